import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";

export const removeTask = mutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }): Promise<boolean> => {
    const task = await ctx.db.get(taskId);
    if (!task) return false;
    const project = await ctx.db.get(task.projectId);
    if (project) await ctx.db.patch(project._id, { taskCount: Math.max(0, project.taskCount - 1) });
    await ctx.runMutation(internal.internalTasks.drop, { taskId });
    return true;
  },
});

export const remove = mutation({
  args: { projectId: v.id("projects") },
  handler: async (ctx, { projectId }): Promise<number> => {
    if (!(await ctx.db.get(projectId))) return 0;
    const tasks = ctx.db.query("tasks").withIndex("tasks_of_project", (q) => q.eq("projectId", projectId));
    const stars = ctx.db.query("stars").withIndex("stars_of_project", (q) => q.eq("projectId", projectId));
    const gone: string[] = [projectId];
    for (const { _id: taskId } of await tasks.collect()) {
      gone.push(...(await ctx.runMutation(internal.internalTasks.drop, { taskId })));
    }
    for (const star of await stars.collect()) {
      gone.push(star._id);
      await ctx.db.delete(star._id);
    }
    await ctx.db.delete(projectId);
    return gone.length;
  },
});
