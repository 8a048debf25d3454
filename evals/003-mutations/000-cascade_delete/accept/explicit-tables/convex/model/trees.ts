import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";

export async function dropTask({ db }: MutationCtx, { _id: taskId }: Doc<"tasks">) {
  const comments = await db
    .query("comments")
    .withIndex("task", (q) => q.eq("taskId", taskId))
    .collect();
  await Promise.all([db.delete("tasks", taskId), ...comments.map((comment) => db.delete("comments", comment._id))]);
  return 1 + comments.length;
}

export async function dropStars({ db }: MutationCtx, projectId: Id<"projects">) {
  let count = 0;
  for await (const { _id } of db.query("stars").withIndex("project", (q) => q.eq("projectId", projectId))) {
    await db.delete("stars", _id);
    count++;
  }
  return count;
}
