import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const send = mutation({
  args: { body: v.string() },
  handler: async (ctx, { body }) => {
    const identity = await ctx.auth.getUserIdentity();
    if (!identity) throw new Error("Unauthenticated call to mutation");
    const user = await ctx.db
      .query("users")
      .withIndex("by_token", (q) => q.eq("tokenIdentifier", identity.tokenIdentifier))
      .unique();
    if (!user) throw new Error("Unauthenticated call to mutation");
    await ctx.db.insert("messages", { body, user: user._id });
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const messages = await ctx.db.query("messages").collect();
    return await Promise.all(messages.map(async ({ body, user }) => ({ body, author: (await ctx.db.get(user))?.name ?? "?" })));
  },
});
