import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export const open = internalMutation({
  args: { gate: v.string() },
  returns: v.boolean(),
  handler: async (_ctx, args) => args.gate !== "",
});
