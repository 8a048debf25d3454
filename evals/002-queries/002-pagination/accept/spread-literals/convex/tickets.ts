import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";
import { withAgent } from "./model/joins";
import { statuses } from "./model/statuses";

export const list = query({
  args: {
    paginationOpts: paginationOptsValidator,
    status: v.optional(v.union(...statuses.map((status) => v.literal(status)))),
  },
  async handler(ctx, { status, paginationOpts }) {
    const table = ctx.db.query("tickets");
    let ordered = table.withIndex("by_rank").order("desc");
    if (status) ordered = ctx.db.query("tickets").withIndex("by_status", (q) => q.eq("status", status)).order("desc");
    const { page, ...end } = await ordered.paginate(paginationOpts);
    return { page: await Promise.all(page.map((ticket) => withAgent(ctx, ticket))), ...end };
  },
});
