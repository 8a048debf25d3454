import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

/** Writes down that somebody did something. */
export const record = mutation({
  args: { actor: v.string(), action: v.string(), detail: v.string() },
  returns: v.null(),
  handler: async (ctx, { actor, action, detail }) => {
    await ctx.db.insert("entries", { actor, action, detail });
    return null;
  },
});

/** What an actor did last, the newest first. */
export const latest = query({
  args: { actor: v.string(), limit: v.number() },
  returns: v.array(v.object({ action: v.string(), detail: v.string() })),
  handler: async (ctx, { actor, limit }) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_actor", (q) => q.eq("actor", actor))
      .order("desc")
      .take(limit);
    return entries.map(({ action, detail }) => ({ action, detail }));
  },
});
