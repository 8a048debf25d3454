/** An HTTP API over messages, as in https://docs.convex.dev/functions/http-actions */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction, internalMutation, internalQuery } from "./_generated/server";

export const postMessage = httpAction(async (ctx, request) => {
  const { author, body } = (await request.json()) as { author: string; body: string };
  await ctx.runMutation(internal.messages.sendOne, { body: `Sent via HTTP action: ${body}`, author });
  return new Response(null, { status: 200 });
});

export const sendOne = internalMutation({
  args: { author: v.string(), body: v.string() },
  handler: async (ctx, message) => {
    await ctx.db.insert("messages", message);
  },
});

export const listByAuthor = internalQuery({
  args: { author: v.string() },
  handler: async (ctx, { author }) =>
    await ctx.db
      .query("messages")
      .withIndex("by_author", (q) => q.eq("author", author))
      .collect(),
});
