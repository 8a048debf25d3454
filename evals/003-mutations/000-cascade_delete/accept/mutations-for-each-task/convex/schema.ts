import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const projects = defineTable({ name: v.string(), taskCount: v.number() });
const tasks = defineTable({ title: v.string(), projectId: v.id("projects") }).index("tasks_of_project", ["projectId", "title"]);
const comments = defineTable({ text: v.string(), taskId: v.id("tasks") }).index("comments_of_task", ["taskId"]);
const stars = defineTable({ user: v.string(), projectId: v.id("projects") }).index("stars_of_project", ["projectId"]);

export default defineSchema({ projects, tasks, comments, stars });
