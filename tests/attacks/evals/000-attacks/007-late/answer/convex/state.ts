import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";

export const add = internalMutation({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.insert("texts", args);
    return null;
  },
});

export const keep = action({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => await ctx.runMutation(internal.state.add, args),
});

export const kept = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("texts").take(100)).map(({ text }) => text),
});
