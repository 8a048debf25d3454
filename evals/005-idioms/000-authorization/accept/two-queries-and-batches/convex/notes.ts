import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";
import { mine, whoAmI } from "./access";

const ACCEPTABLE = /^[^]{1,1000}$/;
const BATCH = 50;

export const removeAllOf = internalMutation({
  args: { owner: v.string() },
  returns: v.number(),
  handler: async (ctx, { owner }) => {
    let removed = 0;
    while (true) {
      const batch = await ctx.db
        .query("notes")
        .withIndex("by_owner_pinned", (q) => q.eq("owner", owner))
        .take(BATCH);
      await Promise.all(batch.map((note) => ctx.db.delete("notes", note._id)));
      removed += batch.length;
      if (batch.length < BATCH) return removed;
    }
  },
});

export const remove = mutation({
  args: { noteId: v.id("notes") },
  handler: async (ctx, { noteId }) => {
    const { _id } = await mine(ctx, noteId);
    await ctx.db.delete("notes", _id);
    return null;
  },
});

export const setPinned = mutation({
  args: { noteId: v.id("notes"), pinned: v.boolean() },
  handler: async (ctx, { noteId, pinned }) => {
    const { _id, _creationTime, ...rest } = await mine(ctx, noteId);
    await ctx.db.replace("notes", _id, { ...rest, pinned });
    return null;
  },
});

export const list = query(async (ctx) => {
  const owner = await whoAmI(ctx);
  const newest = (pinned: boolean) =>
    ctx.db
      .query("notes")
      .withIndex("by_owner_pinned", (q) => q.eq("owner", owner).eq("pinned", pinned))
      .order("desc")
      .collect();
  return [...(await newest(true)), ...(await newest(false))];
});

export const add = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    const owner = await whoAmI(ctx);
    if (!ACCEPTABLE.test(text)) throw new Error("Write something, but not more than 1000 characters.");
    return ctx.db.insert("notes", { text, owner, pinned: false });
  },
});
