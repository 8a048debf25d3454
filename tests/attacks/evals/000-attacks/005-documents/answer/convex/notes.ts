import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const save = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.db.insert("notes", { text: "harmless" });
    return null;
  },
});
