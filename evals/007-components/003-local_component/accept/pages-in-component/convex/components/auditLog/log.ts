import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { actor: v.string(), action: v.string(), detail: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.insert("entries", args);
    return null;
  },
});

export const newest = query({
  args: { actor: v.string(), count: v.number() },
  returns: v.array(v.object({ action: v.string(), detail: v.string() })),
  handler: async (ctx, args) => {
    const { page } = await ctx.db
      .query("entries")
      .withIndex("by_actor", (q) => q.eq("actor", args.actor))
      .order("desc")
      .paginate({ numItems: args.count, cursor: null });
    return page.map(({ action, detail }) => ({ action, detail }));
  },
});
