import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

async function findEnrollment(ctx: QueryCtx, studentId: Id<"students">, courseId: Id<"courses">) {
  return await ctx.db
    .query("enrollments")
    .withIndex("by_studentId_and_courseId", (q) => q.eq("studentId", studentId).eq("courseId", courseId))
    .unique();
}

export const enroll = mutation({
  args: { studentId: v.id("students"), courseId: v.id("courses"), letter: v.optional(v.string()) },
  returns: v.id("enrollments"),
  handler: async (ctx, args) => {
    const student = await ctx.db.get(args.studentId);
    const course = await ctx.db.get(args.courseId);
    if (student === null || course === null) {
      throw new Error("The student or the course does not exist");
    }
    const existing = await findEnrollment(ctx, args.studentId, args.courseId);
    if (existing !== null) {
      return existing._id;
    }
    return await ctx.db.insert("enrollments", args);
  },
});

export const withdraw = mutation({
  args: { studentId: v.id("students"), courseId: v.id("courses") },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const enrollment = await findEnrollment(ctx, args.studentId, args.courseId);
    if (enrollment === null) {
      return false;
    }
    await ctx.db.delete(enrollment._id);
    return true;
  },
});

export const isEnrolled = query({
  args: { studentId: v.id("students"), courseId: v.id("courses") },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    return (await findEnrollment(ctx, args.studentId, args.courseId)) !== null;
  },
});

export const coursesOf = query({
  args: { studentId: v.id("students") },
  handler: async (ctx, args) => {
    const enrollments = await ctx.db
      .query("enrollments")
      .withIndex("by_studentId_and_courseId", (q) => q.eq("studentId", args.studentId))
      .collect();
    const courses = await Promise.all(enrollments.map((enrollment) => ctx.db.get(enrollment.courseId)));
    return courses.filter((course) => course !== null);
  },
});

export const studentsOf = query({
  args: { courseId: v.id("courses") },
  handler: async (ctx, args) => {
    const enrollments = await ctx.db
      .query("enrollments")
      .withIndex("by_courseId", (q) => q.eq("courseId", args.courseId))
      .collect();
    const students = await Promise.all(enrollments.map((enrollment) => ctx.db.get(enrollment.studentId)));
    return students.filter((student) => student !== null);
  },
});
