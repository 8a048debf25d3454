import { v } from "convex/values";
import type { Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

export const pair = { studentId: v.id("students"), courseId: v.id("courses") };

interface Pair {
  studentId: Id<"students">;
  courseId: Id<"courses">;
}

export function findPair({ db }: QueryCtx, { studentId, courseId }: Pair) {
  return db
    .query("enrollments")
    .withIndex("course", (q) => q.eq("courseId", courseId).eq("studentId", studentId))
    .first();
}

export async function requireBoth({ db }: QueryCtx, { studentId, courseId }: Pair): Promise<void> {
  if (!(await db.get("students", studentId))) throw new Error("No such student");
  if (!(await db.get("courses", courseId))) throw new Error("No such course");
}

export function oldestFirst(a: { _creationTime: number }, b: { _creationTime: number }): number {
  return a._creationTime - b._creationTime;
}
