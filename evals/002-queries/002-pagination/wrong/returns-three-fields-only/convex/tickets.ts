import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

export const list = query({
  args: {
    status: v.optional(v.union(v.literal("open"), v.literal("closed"))),
    paginationOpts: paginationOptsValidator,
  },
  returns: v.object({
    page: v.array(
      v.object({
        ticketId: v.id("tickets"),
        subject: v.string(),
        status: v.union(v.literal("open"), v.literal("closed")),
        priority: v.number(),
        agent: v.union(v.string(), v.null()),
      }),
    ),
    isDone: v.boolean(),
    continueCursor: v.string(),
  }),
  handler: async (ctx, args) => {
    const { status } = args;
    const tickets =
      status === undefined
        ? ctx.db.query("tickets").withIndex("by_priority")
        : ctx.db.query("tickets").withIndex("by_status_and_priority", (q) => q.eq("status", status));
    const result = await tickets.order("desc").paginate(args.paginationOpts);
    const page = await Promise.all(
      result.page.map(async (ticket) => {
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
