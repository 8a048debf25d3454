import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const register = mutation({
  args: { farmId: v.id("farms"), number: v.number() },
  handler: async (ctx, args) => {
    // example
    return tagId;
  },
});
