import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

/** Deletes a task with its comments; returns the ids of all that was deleted. */
export const drop = internalMutation({
  args: { taskId: v.id("tasks") },
  handler: async (ctx, { taskId }) => {
    const ids: string[] = [taskId];
    for await (const comment of ctx.db.query("comments").withIndex("comments_of_task", (q) => q.eq("taskId", taskId))) {
      ids.push(comment._id);
      await ctx.db.delete(comment._id);
    }
    await ctx.db.delete(taskId);
    return ids;
  },
});
