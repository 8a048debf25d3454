import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type MutationCtx } from "./_generated/server";
import { asUser } from "./authenticated";

async function changeOwn(ctx: MutationCtx, noteId: Id<"notes">, change: () => Promise<void>) {
  await asUser(ctx, async (user) => {
    const note = await ctx.db.get("notes", noteId);
    if (note?.owner !== user) throw new ConvexError({ code: "NOT_FOUND" });
    await change();
  });
}

export const list = query({
  handler: (ctx) =>
    asUser(ctx, async (user) => {
      const notes = await ctx.db
        .query("notes")
        .withIndex("owner", (q) => q.eq("owner", user))
        .collect();
      return notes.sort((a, b) => Number(b.pinned) - Number(a.pinned) || b._creationTime - a._creationTime);
    }),
});

export const add = mutation({
  args: { text: v.string() },
  handler: (ctx, { text }) =>
    asUser(ctx, async (owner) => {
      if (text === "") throw new ConvexError({ code: "EMPTY" });
      if (text.length > 1000) throw new ConvexError({ code: "TOO_LONG", length: text.length });
      return await ctx.db.insert("notes", { text, pinned: false, owner });
    }),
});

export const setPinned = mutation({
  args: { pinned: v.boolean(), noteId: v.id("notes") },
  handler: (ctx, { noteId, pinned }) => changeOwn(ctx, noteId, () => ctx.db.patch("notes", noteId, { pinned })),
});

export const remove = mutation({
  args: { noteId: v.id("notes") },
  handler: (ctx, { noteId }) => changeOwn(ctx, noteId, () => ctx.db.delete("notes", noteId)),
});

export const removeAllOf = internalMutation({
  args: { owner: v.string() },
  handler: async ({ db }, { owner }) => {
    let count = 0;
    for await (const note of db.query("notes").withIndex("owner", (q) => q.eq("owner", owner))) {
      await db.delete("notes", note._id);
      count += 1;
    }
    return count;
  },
});
