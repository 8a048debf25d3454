import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  projects: defineTable({
    name: v.string(),
    taskCount: v.number(),
  }),
  tasks: defineTable({
    projectId: v.id("projects"),
    title: v.string(),
  }).index("by_projectId", ["projectId"]),
  comments: defineTable({
    taskId: v.id("tasks"),
    text: v.string(),
  }).index("by_taskId", ["taskId"]),
  stars: defineTable({
    projectId: v.id("projects"),
    user: v.string(),
  }),
});
