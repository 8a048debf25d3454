import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { name: v.string(), count: v.number() },
  returns: v.number(),
  handler: async (ctx, { name, count }) => {
    const part = await ctx.db
      .query("parts")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    if (part === null) await ctx.db.insert("parts", { name, count });
    else await ctx.db.patch(part._id, { count: part.count + count });
    return (part?.count ?? 0) + count;
  },
});

export const list = query({
  args: {},
  returns: v.record(v.string(), v.number()),
  handler: async (ctx) => Object.fromEntries((await ctx.db.query("parts").collect()).map(({ name, count }) => [name, count])),
});
