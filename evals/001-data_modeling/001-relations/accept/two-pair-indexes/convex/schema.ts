import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const student = { name: v.string() };
export const course = { title: v.string() };

const enrollments = defineTable({
  letter: v.optional(v.string()),
  courseId: v.id("courses"),
  studentId: v.id("students"),
})
  .index("student", ["studentId", "courseId"])
  .index("course", ["courseId", "studentId"]);

export default defineSchema({ enrollments, students: defineTable(student), courses: defineTable(course) });
