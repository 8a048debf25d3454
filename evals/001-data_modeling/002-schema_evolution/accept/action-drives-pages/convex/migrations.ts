import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, internalMutation } from "./_generated/server";
import { inNewShape } from "./shapes";

export const run = internalMutation({
  args: {},
  handler: async (ctx): Promise<void> => {
    await ctx.scheduler.runAfter(0, internal.migrations.allPages, {});
  },
});

export const allPages = internalAction({
  args: {},
  handler: async (ctx): Promise<void> => {
    let before: number | null = Number.MAX_SAFE_INTEGER;
    while (before !== null) {
      before = await ctx.runMutation(internal.migrations.page, { before });
    }
  },
});

/** Migrates the newest employees that are older than `before`; returns the creation time of the oldest of them. */
export const page = internalMutation({
  args: { before: v.number() },
  handler: async (ctx, { before }): Promise<number | null> => {
    const employees = await ctx.db
      .query("employees")
      .withIndex("by_creation_time", (q) => q.lt("_creationTime", before))
      .order("desc")
      .take(10);
    await Promise.all(
      employees
        .filter((employee) => !("phones" in employee))
        .map((employee) => ctx.db.replace("employees", employee._id, inNewShape(employee))),
    );
    return employees.at(-1)?._creationTime ?? null;
  },
});
