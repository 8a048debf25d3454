import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { hasToken, takeToken } from "./limits";

function nonEmpty(text: string) {
  if (text) return text;
  throw new Error("Say something");
}

export const post = mutation({
  args: { author: v.string(), text: v.string() },
  handler: async (ctx, { author, ...rest }) => {
    const text = nonEmpty(rest.text);
    const retryAfter = await takeToken(ctx, author);
    if (retryAfter !== null) return { posted: false as const, retryAfter };
    await ctx.db.insert("comments", { author, text });
    return { posted: true as const };
  },
});

export const canPost = query({
  args: { author: v.string() },
  handler: async (ctx, args) => await hasToken(ctx, args.author),
});
