import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, internalMutation, mutation, query, type QueryCtx } from "./_generated/server";

const LARGEST_BATCH = 10;

const newest = (ctx: QueryCtx) => ctx.db.query("backfills").order("desc").first();

export const progress = query({
  args: {},
  returns: v.nullable(v.object({ processed: v.number(), status: v.union(v.literal("done"), v.literal("running")) })),
  handler: async (ctx) => {
    const run = await newest(ctx);
    if (!run) return null;
    return { processed: run.processed, status: run.finishedAt === undefined ? ("running" as const) : ("done" as const) };
  },
});

export const start = mutation({
  args: { batchSize: v.number() },
  returns: v.boolean(),
  handler: async (ctx, { batchSize }) => {
    const before = await newest(ctx);
    if (before && before.finishedAt === undefined) return false;
    const run = await ctx.db.insert("backfills", { processed: 0 });
    await ctx.scheduler.runAfter(0, internal.backfill.drive, { run, numItems: Math.min(batchSize, LARGEST_BATCH), cursor: null });
    return true;
  },
});

const batch = { run: v.id("backfills"), numItems: v.number(), cursor: v.union(v.string(), v.null()) };

export const drive = internalAction({
  args: batch,
  handler: async (ctx, args): Promise<void> => {
    const cursor: string | null = await ctx.runMutation(internal.backfill.handle, args);
    if (cursor !== null) await ctx.scheduler.runAfter(0, internal.backfill.drive, { ...args, cursor });
  },
});

export const handle = internalMutation({
  args: batch,
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { run, numItems, cursor }) => {
    const result = await ctx.db.query("customers").order("desc").paginate({ numItems, cursor });
    for (const { _id, _creationTime, ...customer } of result.page) {
      await ctx.db.replace(_id, { ...customer, emailKey: customer.email.trim().toLowerCase() });
    }
    const stored = await ctx.db.get(run);
    if (stored === null) return null;
    await ctx.db.patch(run, { processed: stored.processed + result.page.length });
    if (result.isDone) await ctx.db.patch(run, { finishedAt: Date.now() });
    return result.isDone ? null : result.continueCursor;
  },
});
