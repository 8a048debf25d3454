import { v } from "convex/values";
import { internalMutation, type QueryCtx } from "./_generated/server";

function openTickets(ctx: QueryCtx, before: number) {
  return ctx.db
    .query("tickets")
    .withIndex("by_status", (q) => q.eq("status", "open").lt("lastActivity", before))
    .collect();
}

export const closeStale = internalMutation({
  args: { maxAgeMs: v.number() },
  handler: async (ctx, { maxAgeMs }) => {
    const stale = await openTickets(ctx, Date.now() - maxAgeMs);
    await Promise.all(stale.map(({ _id }) => ctx.db.patch(_id, { status: "closed" })));
    return stale.length;
  },
});

export const writeReport = internalMutation({
  args: { title: v.string() },
  handler: async (ctx, { title }) => {
    const open = await openTickets(ctx, Infinity);
    await ctx.db.insert("reports", { title, openTickets: open.length });
  },
});
