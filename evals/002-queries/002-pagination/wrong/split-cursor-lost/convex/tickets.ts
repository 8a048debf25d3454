import {
  paginationOptsValidator,
  paginationResultValidator,
} from "convex/server";
import { v, type Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";
import { ticketStatus } from "./schema";

const listedTicket = v.object({
  ticketId: v.id("tickets"),
  subject: v.string(),
  status: ticketStatus,
  priority: v.number(),
  agent: v.union(v.string(), v.null()),
});

/** The highest priority first; in each, by the creation time, the newest first. */
function mostUrgentFirst(
  ctx: QueryCtx,
  status: Infer<typeof ticketStatus> | undefined,
) {
  const tickets = ctx.db.query("tickets");
  const chosen =
    status === undefined
      ? tickets.withIndex("by_priority")
      : tickets.withIndex("by_status_and_priority", (q) =>
          q.eq("status", status),
        );
  return chosen.order("desc");
}

async function toListed(
  ctx: QueryCtx,
  ticket: Doc<"tickets">,
): Promise<Infer<typeof listedTicket>> {
  const agent =
    ticket.agentId === undefined
      ? null
      : await ctx.db.get("agents", ticket.agentId);
  return {
    ticketId: ticket._id,
    subject: ticket.subject,
    status: ticket.status,
    priority: ticket.priority,
    agent: agent?.name ?? null,
  };
}

export const list = query({
  args: {
    status: v.optional(ticketStatus),
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(listedTicket),
  handler: async (ctx, { status, paginationOpts }) => {
    const result = await mostUrgentFirst(ctx, status).paginate(paginationOpts);
    return {
      page: await Promise.all(
        result.page.map((ticket) => toListed(ctx, ticket)),
      ),
      isDone: result.isDone,
      continueCursor: result.continueCursor,
    };
  },
});
