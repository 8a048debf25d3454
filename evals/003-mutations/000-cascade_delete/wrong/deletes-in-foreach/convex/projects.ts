import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";

/** Deletes a task and its comments; returns how many documents these were. */
async function deleteTask(ctx: MutationCtx, taskId: Id<"tasks">): Promise<number> {
  const comments = await ctx.db
    .query("comments")
    .withIndex("by_taskId", (q) => q.eq("taskId", taskId))
    .collect();
  for (const comment of comments) {
    await ctx.db.delete(comment._id);
  }
  await ctx.db.delete(taskId);
  return comments.length + 1;
}

export const removeTask = mutation({
  args: { taskId: v.id("tasks") },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const task = await ctx.db.get(args.taskId);
    if (task === null) {
      return false;
    }
    await deleteTask(ctx, task._id);
    const project = await ctx.db.get(task.projectId);
    if (project !== null) {
      await ctx.db.patch(project._id, { taskCount: project.taskCount - 1 });
    }
    return true;
  },
});

export const remove = mutation({
  args: { projectId: v.id("projects") },
  returns: v.number(),
  handler: async (ctx, args) => {
    const project = await ctx.db.get(args.projectId);
    if (project === null) {
      return 0;
    }
    let deleted = 0;
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_projectId", (q) => q.eq("projectId", args.projectId))
      .collect();
    for (const task of tasks) {
      deleted += await deleteTask(ctx, task._id);
    }
    const stars = await ctx.db
      .query("stars")
      .withIndex("by_projectId", (q) => q.eq("projectId", args.projectId))
      .collect();
    stars.forEach(async (star) => {
      await ctx.db.delete(star._id);
    });
    deleted += stars.length;
    await ctx.db.delete(args.projectId);
    return deleted + 1;
  },
});
