import { ConvexError, v } from "convex/values";
import { paginationOptsValidator } from "convex/server";
import { internal } from "./_generated/api";
import { action, internalMutation, internalQuery, mutation, query } from "./_generated/server";

const state = v.union(v.literal("draft"), v.literal("published"));

export const add = mutation({
  args: { author: v.string(), text: v.string(), state: v.optional(state) },
  returns: v.id("notes"),
  handler: async (ctx, args) => {
    const known = await ctx.db.query("authors").withIndex("by_name", (q) => q.eq("name", args.author)).unique();
    const authorId = known?._id ?? (await ctx.db.insert("authors", { name: args.author, tags: [] }));
    if (args.text === "") throw new ConvexError({ code: "EMPTY", field: "text" });
    return await ctx.db.insert("notes", { authorId, text: args.text, state: args.state ?? "draft" });
  },
});

export const list = query({
  args: { author: v.string() },
  handler: async (ctx, args) => {
    const author = await ctx.db.query("authors").withIndex("by_name", (q) => q.eq("name", args.author)).first();
    if (author === null) return [];
    const notes = await ctx.db.query("notes").withIndex("by_author", (q) => q.eq("authorId", author._id).eq("state", "published")).order("desc").take(20);
    return await Promise.all(notes.map(async (note) => ({ ...note, author: (await ctx.db.get(note.authorId))?.name })));
  },
});

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: (ctx, args) => ctx.db.query("notes").filter((q) => q.neq(q.field("text"), "hidden")).paginate(args.paginationOpts),
});

export const search = query({
  args: { text: v.string() },
  handler: (ctx, args) => ctx.db.query("notes").withSearchIndex("by_text", (q) => q.search("text", args.text)).collect(),
});

export const publish = mutation({
  args: { noteId: v.id("notes") },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.patch(args.noteId, { state: "published", place: { city: "Oslo", zip: null } });
    await ctx.scheduler.runAfter(0, internal.notes.prune, { most: 100 });
    return null;
  },
});

export const remove = mutation({
  args: { noteId: v.id("notes") },
  handler: async (ctx, args) => {
    const note = await ctx.db.get(args.noteId);
    if (note !== null) await ctx.db.delete(note._id);
  },
});

export const prune = internalMutation({
  args: { most: v.number() },
  handler: async (ctx, args) => {
    for await (const note of ctx.db.query("notes").order("desc")) {
      args.most -= 1;
      if (args.most < 0) await ctx.db.delete(note._id);
    }
  },
});

export const count = internalQuery({ args: {}, handler: async (ctx) => (await ctx.db.query("notes").collect()).length });

export const addAll = action({
  args: { author: v.string(), texts: v.array(v.string()) },
  returns: v.number(),
  handler: async (ctx, args): Promise<number> => {
    const { api } = await import("./_generated/api");
    for (const text of args.texts) await ctx.runMutation(api.notes.add, { author: args.author, text, state: "published" });
    return await ctx.runQuery(internal.notes.count, {});
  },
});
