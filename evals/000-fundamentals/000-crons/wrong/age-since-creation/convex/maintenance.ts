import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export const closeStale = internalMutation({
  args: { maxAgeMs: v.number() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const oldestAllowed = Date.now() - args.maxAgeMs;
    let closed = 0;
    for await (const ticket of ctx.db.query("tickets")) {
      if (ticket.status === "open" && ticket._creationTime < oldestAllowed) {
        await ctx.db.patch(ticket._id, { status: "closed" });
        closed += 1;
      }
    }
    return closed;
  },
});

export const writeReport = internalMutation({
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
