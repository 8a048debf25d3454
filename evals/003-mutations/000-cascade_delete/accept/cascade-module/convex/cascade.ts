import type { Id } from "./_generated/dataModel";
import type { MutationCtx } from "./_generated/server";

// Each helper returns the number of documents it has deleted.

async function deleteComments(
  ctx: MutationCtx,
  taskId: Id<"tasks">,
): Promise<number> {
  const comments = await ctx.db
    .query("comments")
    .withIndex("by_taskId", (q) => q.eq("taskId", taskId))
    .collect();
  for (const comment of comments) {
    await ctx.db.delete("comments", comment._id);
  }
  return comments.length;
}

async function deleteStars(
  ctx: MutationCtx,
  projectId: Id<"projects">,
): Promise<number> {
  const stars = await ctx.db
    .query("stars")
    .withIndex("by_projectId", (q) => q.eq("projectId", projectId))
    .collect();
  for (const star of stars) {
    await ctx.db.delete("stars", star._id);
  }
  return stars.length;
}

/** Deletes a task that exists, with its comments; leaves the project alone. */
export async function deleteTask(
  ctx: MutationCtx,
  taskId: Id<"tasks">,
): Promise<number> {
  await ctx.db.delete("tasks", taskId);
  return 1 + (await deleteComments(ctx, taskId));
}

/** Deletes a project that exists, with everything that belongs to it. */
export async function deleteProject(
  ctx: MutationCtx,
  projectId: Id<"projects">,
): Promise<number> {
  let deleted = await deleteStars(ctx, projectId);

  const tasks = await ctx.db
    .query("tasks")
    .withIndex("by_projectId", (q) => q.eq("projectId", projectId))
    .collect();
  for (const task of tasks) {
    deleted += await deleteTask(ctx, task._id);
  }

  await ctx.db.delete("projects", projectId);
  return deleted + 1;
}
