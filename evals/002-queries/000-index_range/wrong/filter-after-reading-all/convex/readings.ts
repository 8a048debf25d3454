import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

export const between = query({
  args: { station: v.string(), from: v.number(), to: v.number() },
  handler: async (ctx, args) => {
    const readings = await ctx.db.query("readings").withIndex("by_station_and_at").collect();
    return readings.filter(({ station, at }) => station === args.station && at >= args.from && at < args.to);
  },
});

export const latest = query({
  args: { station: v.string(), count: v.number() },
  handler: async (ctx, args) => {
    const readings = await ctx.db.query("readings").withIndex("by_station_and_at").order("desc").collect();
    return readings.filter(({ station }) => station === args.station).slice(0, args.count);
  },
});

export const history = query({
  args: { station: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("readings")
      .withIndex("by_station_and_at")
      .order("desc")
      .filter((q) => q.eq(q.field("station"), args.station))
      .paginate(args.paginationOpts);
  },
});
