import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { findPair, oldestFirst, pair, requireBoth } from "./model/pairs";
import { course, student } from "./schema";

export const studentsOf = query({
  args: { courseId: v.id("courses") },
  returns: v.array(v.object({ ...student, _id: v.id("students"), _creationTime: v.number() })),
  handler: async (ctx, { courseId }) => {
    const students: Doc<"students">[] = [];
    const enrollments = await ctx.db
      .query("enrollments")
      .withIndex("course", (q) => q.eq("courseId", courseId))
      .collect();
    for (const { studentId } of enrollments.sort(oldestFirst)) {
      const found = await ctx.db.get("students", studentId);
      if (found) students.push(found);
    }
    return students;
  },
});

export const coursesOf = query({
  args: { studentId: v.id("students") },
  returns: v.array(v.object({ ...course, _id: v.id("courses"), _creationTime: v.number() })),
  handler: async (ctx, { studentId }) => {
    const courses: Doc<"courses">[] = [];
    const enrollments = await ctx.db
      .query("enrollments")
      .withIndex("student", (q) => q.eq("studentId", studentId))
      .collect();
    for (const { courseId } of enrollments.sort(oldestFirst)) {
      const found = await ctx.db.get("courses", courseId);
      if (found) courses.push(found);
    }
    return courses;
  },
});

export const isEnrolled = query({
  args: pair,
  returns: v.boolean(),
  handler: async (ctx, args) => Boolean(await findPair(ctx, args)),
});

export const withdraw = mutation({
  args: pair,
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const found = await findPair(ctx, args);
    if (found) await ctx.db.delete("enrollments", found._id);
    return found !== null;
  },
});

export const enroll = mutation({
  args: { ...pair, letter: v.optional(v.string()) },
  returns: v.id("enrollments"),
  handler: async (ctx, { letter, ...args }) => {
    await requireBoth(ctx, args);
    const found = await findPair(ctx, args);
    return found?._id ?? (await ctx.db.insert("enrollments", { ...args, letter }));
  },
});
