import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const keep = mutation({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (ctx, { text }) => {
    await ctx.db.insert("texts", { text });
    return null;
  },
});

export const kept = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("texts").take(100)).map(({ text }) => text),
});
