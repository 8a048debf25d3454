import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

/** The names and ids of all projects, the oldest first. */
export const names = query({
  args: {},
  handler: async (ctx) => {
    const projects = await ctx.db.query("projects").take(100);
    return projects.map(({ _id, name }) => ({ _id, name }));
  },
});

/** One project, or null if it does not exist any more. */
export const get = query({
  args: { projectId: v.id("projects") },
  handler: async (ctx, args) => {
    return await ctx.db.get(args.projectId);
  },
});

export const edit = mutation({
  args: { projectId: v.id("projects"), summary: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.patch(args.projectId, { summary: args.summary });
  },
});

export const remove = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, args) => {
    await ctx.db.delete(args.projectId);
  },
});
