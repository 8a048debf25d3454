import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { dropStars, dropTask } from "./model/trees";

export const remove = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }) => {
    if ((await ctx.db.get("projects", projectId)) === null) return 0;
    await ctx.db.delete("projects", projectId);
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("project", (q) => q.eq("projectId", projectId))
      .collect();
    const counts = await Promise.all([dropStars(ctx, projectId), ...tasks.map((task) => dropTask(ctx, task))]);
    return counts.reduce((sum, count) => sum + count, 1);
  },
});

export const removeTask = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    const task = await ctx.db.get("tasks", taskId);
    if (!task) return false;
    await dropTask(ctx, task);
    const project = await ctx.db.get("projects", task.projectId);
    if (project) await ctx.db.replace("projects", project._id, { name: project.name, taskCount: project.taskCount - 1 });
    return true;
  },
});
