import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

export const between = query({
  args: { station: v.string(), from: v.number(), to: v.number() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station_and_at", (q) => q.eq("station", args.station).gte("at", args.from).lt("at", args.to))
      .collect();
  },
});

export const latest = query({
  args: { station: v.string(), count: v.number() },
  handler: async (ctx, args) => {
    const readings = await ctx.db
      .query("readings")
      .withIndex("by_station_and_at", (q) => q.eq("station", args.station))
      .take(args.count);
    return readings.reverse();
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
