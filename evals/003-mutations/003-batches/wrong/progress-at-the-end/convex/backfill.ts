import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

export const start = mutation({
  args: { batchSize: v.number() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const latest = await ctx.db.query("runs").order("desc").first();
    if (latest !== null && latest.status === "running") {
      return false;
    }
    const runId = await ctx.db.insert("runs", {
      status: "running",
      processed: 0,
      batchSize: args.batchSize,
      cursor: null,
    });
    await ctx.scheduler.runAfter(0, internal.backfill.step, { runId, before: 0 });
    return true;
  },
});

/** Handles one page of customers and schedules the next one. */
export const step = internalMutation({
  args: { runId: v.id("runs"), before: v.number() },
  returns: v.null(),
  handler: async (ctx, args) => {
    const run = await ctx.db.get("runs", args.runId);
    if (run === null || run.status === "done") {
      return null;
    }
    const { page, isDone, continueCursor } = await ctx.db
      .query("customers")
      .paginate({ numItems: run.batchSize, cursor: run.cursor });
    for (const customer of page) {
      await ctx.db.patch("customers", customer._id, { emailKey: customer.email.trim().toLowerCase() });
    }
    await ctx.db.patch("runs", run._id, {
      status: isDone ? "done" : "running",
      processed: isDone ? args.before + page.length : 0,
      cursor: continueCursor,
    });
    if (!isDone) {
      await ctx.scheduler.runAfter(0, internal.backfill.step, { runId: run._id, before: args.before + page.length });
    }
    return null;
  },
});

export const progress = query({
  args: {},
  returns: v.union(
    v.object({ status: v.union(v.literal("running"), v.literal("done")), processed: v.number() }),
    v.null(),
  ),
  handler: async (ctx) => {
    const latest = await ctx.db.query("runs").order("desc").first();
    if (latest === null) {
      return null;
    }
    return { status: latest.status, processed: latest.processed };
  },
});
