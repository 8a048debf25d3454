import { v } from "convex/values";
import { action, mutation, query } from "./_generated/server";

export const count = query({
  returns: v.number(),
  handler: async (ctx) => {
    const waiting = await ctx.db
      .query("requests")
      .withIndex("by_status", (q) => q.eq("status", "waiting"))
      .collect();
    return waiting.length;
  },
});

export const add = mutation({
  args: { song: v.string(), listener: v.optional(v.string()) },
  returns: v.id("requests"),
  handler: async (ctx, args) => {
    return await ctx.db.insert("requests", { song: args.song, listener: args.listener, status: "waiting" });
  },
});

export const jingle = action({
  args: {
    words: v.array(v.string()),
    style: v.union(v.literal("calm"), v.literal("loud")),
  },
  returns: v.object({ text: v.string(), length: v.number() }),
  handler: async (_ctx, args) => {
    const text = args.words.join(" ");
    return { text: args.style === "loud" ? text.toUpperCase() : text, length: args.words.length };
  },
});
