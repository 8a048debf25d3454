import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type QueryCtx } from "./_generated/server";

const MAX_LENGTH = 1000;

async function currentUser(ctx: QueryCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new Error("Not logged in");
  }
  return identity.tokenIdentifier;
}

async function ownNote(ctx: QueryCtx, noteId: Id<"notes">): Promise<Doc<"notes">> {
  const owner = await currentUser(ctx);
  const note = await ctx.db.get(noteId);
  if (note === null) {
    throw new Error("No such note");
  }
  if (note.owner !== owner) {
    throw new Error("This note belongs to another user");
  }
  return note;
}

export const add = mutation({
  args: { text: v.string() },
  returns: v.id("notes"),
  handler: async (ctx, args) => {
    const owner = await currentUser(ctx);
    if (args.text.length === 0 || args.text.length > MAX_LENGTH) {
      throw new Error(`A note has 1 to ${MAX_LENGTH} characters`);
    }
    return await ctx.db.insert("notes", { owner, text: args.text, pinned: false });
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const owner = await currentUser(ctx);
    // true comes after false, and the creation time ends every index
    return await ctx.db
      .query("notes")
      .withIndex("by_owner_and_pinned", (q) => q.eq("owner", owner))
      .order("desc")
      .collect();
  },
});

export const setPinned = mutation({
  args: { noteId: v.id("notes"), pinned: v.boolean() },
  returns: v.null(),
  handler: async (ctx, args) => {
    const note = await ownNote(ctx, args.noteId);
    await ctx.db.patch(note._id, { pinned: args.pinned });
    return null;
  },
});

export const remove = mutation({
  args: { noteId: v.id("notes") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const note = await ownNote(ctx, args.noteId);
    await ctx.db.delete(note._id);
    return null;
  },
});

export const removeAllOf = internalMutation({
  args: { owner: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_owner_and_pinned", (q) => q.eq("owner", args.owner))
      .collect();
    for (const note of notes) {
      await ctx.db.delete(note._id);
    }
    return notes.length;
  },
});
