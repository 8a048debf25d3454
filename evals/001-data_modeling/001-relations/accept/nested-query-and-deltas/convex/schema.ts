import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  courses: defineTable({ title: v.string() }).index("title", ["title"]),
  students: defineTable(v.object({ name: v.string() })),
  enrollments: defineTable({
    courseId: v.id("courses"),
    studentId: v.id("students"),
    letter: v.optional(v.string()),
  })
    .index("pair", ["courseId", "studentId", "letter"])
    .index("students", ["courseId"])
    .index("courses", ["studentId"]),
});
