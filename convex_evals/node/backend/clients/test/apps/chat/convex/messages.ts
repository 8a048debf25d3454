/** A chat as in https://docs.convex.dev/tutorial/ */
import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";

const MAX_LENGTH = 280;

export const list = query({
  args: { room: v.string() },
  handler: async (ctx, { room }) => {
    const newest = await ctx.db
      .query("messages")
      .withIndex("by_room", (q) => q.eq("room", room))
      .order("desc")
      .take(50);
    return newest.reverse();
  },
});

export const send = mutation({
  args: { room: v.string(), author: v.string(), body: v.string() },
  returns: v.id("messages"),
  handler: async (ctx, message) => {
    const body = message.body.trim();
    if (body === "") throw new ConvexError("Say something");
    if (body.length > MAX_LENGTH) throw new ConvexError({ code: "too long", limit: MAX_LENGTH });
    return await ctx.db.insert("messages", { ...message, body });
  },
});
