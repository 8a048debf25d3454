import { internalMutation } from "./_generated/server";
import { v } from "convex/values";

export const remind = internalMutation({
  args: {},
  returns: v.null(),
  handler: async () => null,
});
