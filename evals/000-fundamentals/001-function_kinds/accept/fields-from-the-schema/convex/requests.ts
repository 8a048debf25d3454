import { v } from "convex/values";
import { action, mutation, query } from "./_generated/server";

/** How many requests are still waiting to be played. */
export const count = query({
  args: {},
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
  handler: async (ctx, { song, listener }) => {
    return await ctx.db.insert("requests", {
      song,
      listener,
      status: "waiting",
    });
  },
});

/** Will call an outside service one day, hence an action. */
export const jingle = action({
  args: {
    words: v.array(v.string()),
    style: v.union(v.literal("calm"), v.literal("loud")),
  },
  returns: v.object({ text: v.string(), length: v.number() }),
  handler: async (_ctx, { words, style }) => {
    const spoken = words.join(" ");
    return {
      text: style === "loud" ? spoken.toUpperCase() : spoken,
      length: words.length,
    };
  },
});
