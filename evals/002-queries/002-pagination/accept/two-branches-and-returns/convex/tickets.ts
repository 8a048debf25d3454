import { paginationOptsValidator, paginationResultValidator, type PaginationOptions } from "convex/server";
import { v, type Infer } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";
import { status } from "./schema";

const row = v.object({
  agent: v.nullable(v.string()),
  priority: v.number(),
  status,
  subject: v.string(),
  ticketId: v.id("tickets"),
});

async function page(ctx: QueryCtx, wanted: Infer<typeof status> | undefined, options: PaginationOptions) {
  if (wanted === undefined) {
    return await ctx.db.query("tickets").withIndex("priority").order("desc").paginate(options);
  }
  return await ctx.db
    .query("tickets")
    .withIndex("statusPriority", (q) => q.eq("status", wanted))
    .order("desc")
    .paginate(options);
}

export const list = query({
  args: { paginationOpts: paginationOptsValidator, status: v.optional(status) },
  returns: paginationResultValidator(row),
  handler: async (ctx, { paginationOpts, ...args }) => {
    const result = await page(ctx, args.status, paginationOpts);
    const names = new Map<Id<"agents">, string | null>();
    const rows: Infer<typeof row>[] = [];
    for (const { _id, agentId, subject, priority, status: state } of result.page) {
      if (agentId && !names.has(agentId)) names.set(agentId, (await ctx.db.get(agentId))?.name ?? null);
      rows.push({ ticketId: _id, subject, priority, status: state, agent: (agentId && names.get(agentId)) ?? null });
    }
    return { ...result, page: rows };
  },
});
