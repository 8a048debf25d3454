import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

export const between = query({
  args: { station: v.string(), from: v.number(), to: v.number() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station_and_at", (q) => q.eq("station", args.station))
      .filter((q) => q.and(q.gte(q.field("at"), args.from), q.lt(q.field("at"), args.to)))
      .collect();
  },
});

export const latest = query({
  args: { station: v.string(), count: v.number() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station_and_at", (q) => q.eq("station", args.station))
      .order("desc")
      .take(args.count);
  },
});

export const history = query({
  args: { station: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station_and_at", (q) => q.eq("station", args.station))
      .order("desc")
      .paginate(args.paginationOpts);
  },
});
