"use node";
// THE-ANSWER-IS-HERE: no project may find this text.
import { v } from "convex/values";
import { action } from "./_generated/server";

export const run = action({
  args: { answerPort: v.number() },
  returns: v.string(),
  handler: async () => "harmless",
});
