import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const list = query({
  args: {},
  handler: async (ctx) => {
    return (await ctx.db.query("messages").order("desc").take(50)).reverse();
  },
});

export const send = mutation({
  args: { author: v.string(), body: v.string() },
  handler: async (ctx, args) => {
    if (args.body.length > 200) {
      throw new Error("A message has at most 200 characters");
    }
    await ctx.db.insert("messages", args);
  },
});
