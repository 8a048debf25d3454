import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

export const list = query({
  args: {
    status: v.optional(v.union(v.literal("open"), v.literal("closed"))),
    paginationOpts: paginationOptsValidator,
  },
  handler: async (ctx, args) => {
    const { status } = args;
    const result = await ctx.db.query("tickets").withIndex("by_priority").order("desc").paginate(args.paginationOpts);
    const matching = result.page.filter((ticket) => status === undefined || ticket.status === status);
    const page = await Promise.all(
      matching.map(async (ticket) => {
        const agent = ticket.agentId === undefined ? null : await ctx.db.get("agents", ticket.agentId);
        return {
          ticketId: ticket._id,
          subject: ticket.subject,
          status: ticket.status,
          priority: ticket.priority,
          agent: agent?.name ?? null,
        };
      }),
    );
    return { ...result, page };
  },
});
