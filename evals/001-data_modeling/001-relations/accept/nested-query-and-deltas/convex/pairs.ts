import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalQuery } from "./_generated/server";

export const find = internalQuery({
  args: { studentId: v.id("students"), courseId: v.id("courses") },
  handler: async (ctx, { studentId, courseId }): Promise<Id<"enrollments"> | null> => {
    const found = await ctx.db
      .query("enrollments")
      .withIndex("pair", (q) => q.eq("courseId", courseId).eq("studentId", studentId))
      .collect();
    return found.length > 0 ? found[0]._id : null;
  },
});
