import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { text: v.string() },
  returns: v.id("notes"),
  handler: async (ctx, { text }) => await ctx.db.insert("notes", { text }),
});

export const list = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => {
    const notes = await ctx.db.query("notes").order("desc").collect();
    return notes.map((note) => note.text);
  },
});

export const limit: number = "ten";
