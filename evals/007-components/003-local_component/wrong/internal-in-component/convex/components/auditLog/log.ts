import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

export const add = internalMutation({
  args: { actor: v.string(), action: v.string(), detail: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.insert("entries", args);
    return null;
  },
});

export const newest = internalQuery({
  args: { actor: v.string(), count: v.number() },
  returns: v.array(v.object({ action: v.string(), detail: v.string() })),
  handler: async (ctx, args) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_actor", (q) => q.eq("actor", args.actor))
      .order("desc")
      .take(args.count);
    return entries.map(({ action, detail }) => ({ action, detail }));
  },
});
