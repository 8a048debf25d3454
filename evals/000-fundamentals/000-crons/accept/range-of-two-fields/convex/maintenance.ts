import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

/** Closes every open ticket that has been quiet for longer than `maxAgeMs`. */
export const closeStale = internalMutation({
  args: { maxAgeMs: v.number() },
  returns: v.number(),
  handler: async (ctx, { maxAgeMs }) => {
    const cutoff = Date.now() - maxAgeMs;

    const stale = await ctx.db
      .query("tickets")
      .withIndex("by_status_and_activity", (q) =>
        q.eq("status", "open").lt("lastActivity", cutoff),
      )
      .collect();

    for (const ticket of stale) {
      await ctx.db.patch("tickets", ticket._id, { status: "closed" });
    }

    return stale.length;
  },
});

/** Files a report with the number of tickets that are open right now. */
export const writeReport = internalMutation({
  args: { title: v.string() },
  returns: v.null(),
  handler: async (ctx, { title }) => {
    const open = await ctx.db
      .query("tickets")
      .withIndex("by_status_and_activity", (q) => q.eq("status", "open"))
      .collect();

    await ctx.db.insert("reports", { title, openTickets: open.length });
    return null;
  },
});
