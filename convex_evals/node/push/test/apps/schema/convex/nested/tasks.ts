import { v } from "convex/values";
import { internal } from "../_generated/api";
import type { Id } from "../_generated/dataModel";
import { action, internalQuery, mutation } from "../_generated/server";

export const add = mutation({
  args: { title: v.string() },
  handler: async (ctx, { title }): Promise<Id<"tasks">> => ctx.db.insert("tasks", { title, done: false }),
});

export const open = internalQuery({
  args: {},
  handler: async (ctx) =>
    ctx.db
      .query("tasks")
      .withIndex("by_done", (q) => q.eq("done", false))
      .collect(),
});

export const count = action({
  args: {},
  handler: async (ctx): Promise<number> => (await ctx.runQuery(internal.nested.tasks.open, {})).length,
});
