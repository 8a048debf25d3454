import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server";

// A batch stays far below the limits of a transaction, however large
// `batchSize` and the notes are: a page ends after the customer that takes it
// past the bytes, and is then a shorter batch.
const MAX_BATCH_CUSTOMERS = 1000;
const MAX_BATCH_BYTES = 3 * 1024 * 1024;

async function latestRun(ctx: QueryCtx): Promise<Doc<"runs"> | null> {
  return await ctx.db.query("runs").order("desc").first();
}

function toEmailKey(email: string): string {
  return email.trim().toLowerCase();
}

export const start = mutation({
  args: { batchSize: v.number() },
  returns: v.boolean(),
  handler: async (ctx, { batchSize }): Promise<boolean> => {
    if (!Number.isInteger(batchSize) || batchSize < 1) {
      throw new ConvexError("batchSize must be a whole number of at least 1");
    }
    const latest = await latestRun(ctx);
    if (latest?.status === "running") {
      return false;
    }
    const runId = await ctx.db.insert("runs", {
      status: "running",
      processed: 0,
      batchSize,
      cursor: null,
    });
    await ctx.scheduler.runAfter(0, internal.backfill.handleBatch, { runId });
    return true;
  },
});

export const handleBatch = internalMutation({
  args: { runId: v.id("runs") },
  returns: v.null(),
  handler: async (ctx, { runId }): Promise<null> => {
    const run = await ctx.db.get("runs", runId);
    if (run === null || run.status === "done") {
      return null;
    }

    // In the order of creation, which the writes below do not change.
    const { page, isDone, continueCursor } = await ctx.db
      .query("customers")
      .paginate({
        cursor: run.cursor,
        numItems: Math.min(run.batchSize, MAX_BATCH_CUSTOMERS),
        maximumBytesRead: MAX_BATCH_BYTES,
      });

    for (const customer of page) {
      const emailKey = toEmailKey(customer.email);
      if (customer.emailKey !== emailKey) {
        await ctx.db.patch("customers", customer._id, { emailKey });
      }
    }

    await ctx.db.patch("runs", runId, {
      status: isDone ? "done" : "running",
      processed: run.processed + page.length,
      cursor: continueCursor,
    });
    if (!isDone) {
      await ctx.scheduler.runAfter(0, internal.backfill.handleBatch, { runId });
    }
    return null;
  },
});

export const progress = query({
  args: {},
  returns: v.union(
    v.null(),
    v.object({
      status: v.union(v.literal("running"), v.literal("done")),
      processed: v.number(),
    }),
  ),
  handler: async (ctx) => {
    const run = await latestRun(ctx);
    return run && { status: run.status, processed: run.processed };
  },
});
