import { v } from "convex/values";
import { internalAction, internalMutation, internalQuery } from "./_generated/server";

const status = v.union(v.literal("waiting"), v.literal("playing"), v.literal("played"));

export const next = internalQuery({
  args: {},
  returns: v.union(
    v.object({
      _id: v.id("requests"),
      _creationTime: v.number(),
      song: v.string(),
      listener: v.optional(v.string()),
      status,
    }),
    v.null(),
  ),
  handler: async (ctx) => {
    return await ctx.db
      .query("requests")
      .withIndex("by_status", (q) => q.eq("status", "waiting"))
      .first();
  },
});

export const setStatus = internalMutation({
  args: { requestId: v.id("requests"), status },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const request = await ctx.db.get("requests", args.requestId);
    if (request === null) {
      return false;
    }
    await ctx.db.patch("requests", args.requestId, { status: args.status });
    return true;
  },
});

export const tweet = internalAction({
  args: { song: v.string(), listener: v.optional(v.string()) },
  returns: v.null(),
  handler: async () => {
    return null;
  },
});
