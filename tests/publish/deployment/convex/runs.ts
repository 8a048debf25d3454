import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, query, type QueryCtx } from "./_generated/server";
import { experiment } from "./validators";

const MOST_LISTED = 40;
const UNFINISHED_MS = 3 * 60 * 60 * 1000;

function evalsOf(ctx: QueryCtx, runId: Id<"runs">): Promise<Doc<"evals">[]> {
  return ctx.db
    .query("evals")
    .withIndex("by_run", (q) => q.eq("runId", runId))
    .collect();
}

function stepsOf(ctx: QueryCtx, evalId: Id<"evals">): Promise<Doc<"steps">[]> {
  return ctx.db
    .query("steps")
    .withIndex("by_eval", (q) => q.eq("evalId", evalId))
    .collect();
}

export const listRuns = query({
  args: { experiment: v.optional(experiment), modelId: v.optional(v.id("models")), limit: v.optional(v.number()) },
  handler: async (ctx, { experiment, modelId, limit = MOST_LISTED }) => {
    const chosen =
      modelId !== undefined
        ? ctx.db.query("runs").withIndex("by_model", (q) => q.eq("modelId", modelId))
        : experiment !== undefined
          ? ctx.db.query("runs").withIndex("by_experiment", (q) => q.eq("experiment", experiment))
          : ctx.db.query("runs");
    const runs = await chosen
      .order("desc")
      .filter((q) => (experiment === undefined ? true : q.eq(q.field("experiment"), experiment)))
      .take(Math.min(limit, MOST_LISTED));
    return await Promise.all(
      runs.map(async (run) => {
        const model = await ctx.db.get(run.modelId);
        const kinds = (await evalsOf(ctx, run._id)).map((each) => each.status.kind);
        const counted = (kind: string): number => kinds.filter((each) => each === kind).length;
        const evalCounts = {
          total: kinds.length,
          passed: counted("passed"),
          failed: counted("failed"),
          pending: counted("running"),
        };
        return { ...run, model: model?.slug, formattedName: model?.formattedName, evalCounts };
      }),
    );
  },
});

export const getRunDetails = query({
  args: { runId: v.id("runs") },
  handler: async (ctx, { runId }) => {
    const run = await ctx.db.get(runId);
    if (!run) return null;
    const evals = await evalsOf(ctx, runId);
    const withSteps = evals.map(async (each) => ({ ...each, steps: await stepsOf(ctx, each._id) }));
    const model = await ctx.db.get(run.modelId);
    return { ...run, model: model?.slug, formattedName: model?.formattedName, evals: await Promise.all(withSteps) };
  },
});

export const getOutputUrl = query({
  args: { storageId: v.id("_storage") },
  handler: async (ctx, { storageId }) => await ctx.storage.getUrl(storageId),
});

export const listExperiments = query({
  args: {},
  handler: async (ctx) => {
    const runs = await ctx.db.query("runs").order("desc").collect();
    const names = [...new Set(runs.map((run) => run.experiment ?? "default"))];
    return await Promise.all(
      names.map(async (name) => {
        const own = runs.filter((run) => (run.experiment ?? "default") === name);
        const evals = (await Promise.all(own.map((run) => evalsOf(ctx, run._id)))).flat();
        const modelIds = [...new Set(own.map((run) => run.modelId))];
        const models = await Promise.all(modelIds.map((id) => ctx.db.get(id)));
        const passedEvals = evals.filter((each) => each.status.kind === "passed").length;
        return {
          name,
          runCount: own.length,
          completedRuns: own.filter((run) => run.status.kind === "completed").length,
          totalEvals: evals.length,
          passedEvals,
          passRate: evals.length === 0 ? 0 : passedEvals / evals.length,
          models: models.map((model) => model?.slug),
          modelIds,
          modelCount: modelIds.length,
          latestRun: own[0]?._creationTime,
        };
      }),
    );
  },
});

/** What the cron calls; tests call it with an age of their own. */
export const failUnfinished = internalMutation({
  args: { olderThanMs: v.optional(v.number()) },
  returns: v.null(),
  handler: async (ctx, { olderThanMs = UNFINISHED_MS }) => {
    for (const run of await ctx.db.query("runs").collect()) {
      const durationMs = Date.now() - run._creationTime;
      if (run.status.kind !== "running" || durationMs < olderThanMs) continue;
      const failureReason = "[infrastructure] not finished within three hours";
      await ctx.db.patch(run._id, { status: { kind: "failed", failureReason, durationMs } });
      for (const each of await evalsOf(ctx, run._id)) {
        if (each.status.kind !== "running") continue;
        await ctx.db.patch(each._id, { status: { kind: "failed", failureReason, durationMs } });
      }
    }
    return null;
  },
});

export const leaderboardVersions = query({
  args: { experiment: v.optional(experiment) },
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("benchmarks").order("desc").collect()).map((each) => each.version),
});
