import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  students: defineTable({
    name: v.string(),
  }),
  courses: defineTable({
    title: v.string(),
  }),
  enrollments: defineTable({
    studentId: v.id("students"),
    courseId: v.id("courses"),
    letter: v.optional(v.string()),
  })
    .index("by_studentId", ["studentId"])
    .index("by_studentId_and_courseId", ["studentId", "courseId"]),
});
