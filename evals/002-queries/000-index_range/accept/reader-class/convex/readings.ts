import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";
import { Archive } from "./model/archive";

const station = v.string();

export const between = query({
  args: { station, from: v.number(), to: v.number() },
  handler: ({ db }, args) => new Archive(db, args.station).between(args.from, args.to),
});

export const latest = query({
  args: { station, count: v.number() },
  handler: async ({ db }, args) => {
    const { page } = await new Archive(db, args.station).newestFirst({ numItems: args.count, cursor: null });
    return page;
  },
});

export const history = query({
  args: { station, paginationOpts: paginationOptsValidator },
  handler: async ({ db }, args) => {
    const { page, ...position } = await new Archive(db, args.station).newestFirst(args.paginationOpts);
    return { ...position, page };
  },
});
