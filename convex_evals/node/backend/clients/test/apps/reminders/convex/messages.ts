/** A message that destroys itself, as in https://docs.convex.dev/scheduling/scheduled-functions */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

export const sendExpiringMessage = mutation({
  args: { body: v.string(), author: v.string(), lifetimeMs: v.number() },
  handler: async (ctx, { body, author, lifetimeMs }) => {
    const id = await ctx.db.insert("messages", { body, author });
    await ctx.scheduler.runAfter(lifetimeMs, internal.messages.destruct, { messageId: id });
    return id;
  },
});

export const destruct = internalMutation({
  args: { messageId: v.id("messages") },
  handler: async (ctx, { messageId }) => {
    await ctx.db.delete(messageId);
  },
});

export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("messages").collect() });
