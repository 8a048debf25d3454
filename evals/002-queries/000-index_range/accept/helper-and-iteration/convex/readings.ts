import { paginationOptsValidator, paginationResultValidator } from "convex/server";
import { v, type Infer } from "convex/values";
import { query, type QueryCtx } from "./_generated/server";
import { reading } from "./schema";

const document = v.object({ ...reading, _id: v.id("readings"), _creationTime: v.number() });

function readingsOf(ctx: QueryCtx, station: string, from = -Infinity, to = Infinity) {
  return ctx.db.query("readings").withIndex("stationTime", (q) => q.eq("station", station).gte("at", from).lt("at", to));
}

export const history = query({
  args: { station: v.string(), paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(document),
  handler: (ctx, { station, paginationOpts }) => readingsOf(ctx, station).order("desc").paginate({ ...paginationOpts }),
});

export const latest = query({
  args: { count: v.number(), station: v.string() },
  returns: v.array(document),
  handler: async (ctx, { station, count }) => {
    const found: Infer<typeof document>[] = [];
    if (count <= 0) return found;
    for await (const next of readingsOf(ctx, station).order("desc")) {
      found.push(next);
      if (found.length >= count) break;
    }
    return found;
  },
});

export const between = query({
  args: { from: v.number(), station: v.string(), to: v.number() },
  returns: v.array(document),
  handler: async (ctx, { station, from, to }) => {
    const found: Infer<typeof document>[] = [];
    for await (const next of readingsOf(ctx, station, from, to).order("asc")) found.push(next);
    return found;
  },
});
