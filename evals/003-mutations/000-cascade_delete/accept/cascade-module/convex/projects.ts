import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { deleteProject, deleteTask } from "./cascade";

export const removeTask = mutation({
  args: { taskId: v.id("tasks") },
  returns: v.boolean(),
  handler: async (ctx, { taskId }) => {
    const task = await ctx.db.get("tasks", taskId);
    if (task === null) {
      return false;
    }

    const project = await ctx.db.get("projects", task.projectId);
    if (project !== null) {
      await ctx.db.patch("projects", project._id, {
        taskCount: project.taskCount - 1,
      });
    }
    await deleteTask(ctx, taskId);
    return true;
  },
});

export const remove = mutation({
  args: { projectId: v.id("projects") },
  returns: v.number(),
  handler: async (ctx, { projectId }) => {
    const project = await ctx.db.get("projects", projectId);
    return project === null ? 0 : await deleteProject(ctx, projectId);
  },
});
