import {
  paginationOptsValidator,
  paginationResultValidator,
} from "convex/server";
import { v } from "convex/values";
import { query, type QueryCtx } from "./_generated/server";
import { readingDocument } from "./validators";

function newestFirst(ctx: QueryCtx, station: string) {
  return ctx.db
    .query("readings")
    .withIndex("by_station_and_at", (q) => q.eq("station", station))
    .order("desc");
}

export const between = query({
  args: { station: v.string(), from: v.number(), to: v.number() },
  returns: v.array(readingDocument),
  handler: async (ctx, { station, from, to }) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station_and_at", (q) =>
        q.eq("station", station).gte("at", from).lt("at", to),
      )
      .order("asc")
      .collect();
  },
});

export const latest = query({
  args: { station: v.string(), count: v.number() },
  returns: v.array(readingDocument),
  handler: async (ctx, { station, count }) => {
    return await newestFirst(ctx, station).take(count);
  },
});

export const history = query({
  args: { station: v.string(), paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(readingDocument),
  handler: async (ctx, { station, paginationOpts }) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station", (q) => q.eq("station", station))
      .order("desc")
      .paginate(paginationOpts);
  },
});
