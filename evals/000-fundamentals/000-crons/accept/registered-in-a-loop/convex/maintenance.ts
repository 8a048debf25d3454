import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export const writeReport = internalMutation({
  args: v.object({ title: v.string() }),
  returns: v.null(),
  async handler({ db }, { title }) {
    const tickets = await db.query("tickets").collect();
    await db.insert("reports", { openTickets: tickets.filter(({ status }) => status === "open").length, title });
    return null;
  },
});

export const closeStale = internalMutation({
  args: { maxAgeMs: v.float64() },
  async handler({ db }, { maxAgeMs }): Promise<number> {
    const limit = Date.now() - maxAgeMs;
    const stale = await db
      .query("tickets")
      .filter((q) => q.and(q.eq(q.field("status"), "open"), q.lt(q.field("lastActivity"), limit)))
      .collect();
    for (const { _id, subject, lastActivity } of stale) {
      await db.replace("tickets", _id, { subject, lastActivity, status: "closed" });
    }
    return stale.length;
  },
});
