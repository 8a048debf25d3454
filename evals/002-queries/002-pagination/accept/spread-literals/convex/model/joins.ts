import type { Doc } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

/** A ticket as the list shows it. */
export async function withAgent(ctx: QueryCtx, ticket: Doc<"tickets">) {
  const { _id: ticketId, subject, status, priority } = ticket;
  let agent: string | null = null;
  if (ticket.agentId !== undefined) {
    const found = await ctx.db.get(ticket.agentId);
    if (found !== null) agent = found.name;
  }
  return { ticketId, subject, status, priority, agent };
}
