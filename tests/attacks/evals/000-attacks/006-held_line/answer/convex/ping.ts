// THE-ANSWER-IS-HERE: no project may find this text.
import { v } from "convex/values";
import { query } from "./_generated/server";

export const ping = query({
  args: {},
  returns: v.string(),
  handler: async () => "pong",
});
