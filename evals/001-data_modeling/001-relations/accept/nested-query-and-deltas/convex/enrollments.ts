import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";

export const enroll = mutation({
  args: { studentId: v.id("students"), courseId: v.id("courses"), letter: v.optional(v.string()) },
  handler: async (ctx, { studentId, courseId, letter }): Promise<Id<"enrollments">> => {
    const existing = await ctx.runQuery(internal.pairs.find, { studentId, courseId });
    const enrollment = existing ?? (await ctx.db.insert("enrollments", { studentId, courseId, letter }));
    const [student, course] = await Promise.all([ctx.db.get(studentId), ctx.db.get(courseId)]);
    if (!student || !course) throw new ConvexError({ code: "gone" });
    return enrollment;
  },
});

export const withdraw = mutation({
  args: { studentId: v.id("students"), courseId: v.id("courses") },
  handler: async (ctx, pair): Promise<boolean> => {
    const enrollment = await ctx.runQuery(internal.pairs.find, pair);
    if (!enrollment) return false;
    await ctx.db.delete(enrollment);
    return true;
  },
});

export const isEnrolled = query({
  args: { studentId: v.id("students"), courseId: v.id("courses") },
  handler: async (ctx, pair): Promise<boolean> => !!(await ctx.runQuery(internal.pairs.find, pair)),
});

export const coursesOf = query({
  args: { studentId: v.id("students") },
  handler: async (ctx, { studentId }) => {
    const courses = new Map<Id<"courses">, Doc<"courses">>();
    for await (const { courseId } of ctx.db.query("enrollments").withIndex("courses", (q) => q.eq("studentId", studentId))) {
      const course = await ctx.db.get(courseId);
      if (course) courses.set(courseId, course);
    }
    return [...courses.values()];
  },
});

export const studentsOf = query({
  args: { courseId: v.id("courses") },
  handler: async (ctx, { courseId }) => {
    const newestFirst: Doc<"students">[] = [];
    const enrollments = ctx.db.query("enrollments").withIndex("students", (q) => q.eq("courseId", courseId)).order("desc");
    for await (const enrollment of enrollments) {
      const student = await ctx.db.get(enrollment.studentId);
      if (student) newestFirst.push(student);
    }
    return newestFirst.reverse();
  },
});
