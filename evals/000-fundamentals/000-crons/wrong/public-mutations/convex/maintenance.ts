import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const closeStale = mutation({
  args: { maxAgeMs: v.number() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const oldestAllowed = Date.now() - args.maxAgeMs;
    let closed = 0;
    for await (const ticket of ctx.db.query("tickets")) {
      if (ticket.status === "open" && ticket.lastActivity < oldestAllowed) {
        await ctx.db.patch(ticket._id, { status: "closed" });
        closed += 1;
      }
    }
    return closed;
  },
});

export const writeReport = mutation({
  args: { title: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    let openTickets = 0;
    for await (const ticket of ctx.db.query("tickets")) {
      if (ticket.status === "open") {
        openTickets += 1;
      }
    }
    await ctx.db.insert("reports", { title: args.title, openTickets });
    return null;
  },
});
