import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { Audit } from "./audit";

export const history = query({ handler: async (ctx) => (await Audit.of(ctx)).recall(ctx) });

export const write = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    const audit = await Audit.of(ctx);
    const id = await ctx.db.insert("entries", { text, author: audit.user.subject });
    await audit.record(ctx, "write", id);
    return id;
  },
});

export const remove = mutation({
  args: { entryId: v.id("entries") },
  handler: async (ctx, { entryId }) => {
    const audit = await Audit.of(ctx);
    // Both are undone when the entry turns out to be missing or somebody else's.
    await audit.record(ctx, "remove", entryId);
    const entry = await ctx.db.get("entries", entryId);
    if (entry?.author !== audit.user.subject) throw new ConvexError({ code: "not yours" });
    await ctx.db.delete("entries", entryId);
    return null;
  },
});
