/** What is read of runs. One that is not complete is in no list; who knows its id can see how far it is. */
import { v } from "convex/values";
import { internalMutation, internalQuery, query, type QueryCtx } from "./_generated/server";
import type { Doc, Id } from "./_generated/dataModel";
import { leaderboard } from "./leaderboard";
import { evalsOf, failRun, removeEvals, stepsOf } from "./lifecycle";
import { ratesOf } from "./results";
import { ALL_VERSIONS, benchmarkCalled, DEFAULT_EXPERIMENT, modelsOf } from "./scores";
import { experiment } from "./validators";

const MOST_LISTED = 40;
const MOST_HISTORY = 200;
const MOST_VERSIONS = 100;
const MOST_EXPERIMENTS = 50;
const UNFINISHED_MS = 3 * 60 * 60 * 1000;
/** Runs that one call of the cron ends. */
const ENDED_AT_ONCE = 5;

export const listRuns = query({
  args: { experiment: v.optional(experiment), modelId: v.optional(v.id("models")), limit: v.optional(v.number()) },
  handler: async (ctx, { experiment, modelId, limit = MOST_LISTED }) => {
    const runs = await listed(ctx, modelId, experiment).order("desc").take(atMost(limit, MOST_LISTED));
    return await Promise.all(runs.map((run) => named(ctx, run)));
  },
});

function listed(ctx: QueryCtx, modelId: Id<"models"> | undefined, experiment: string | undefined) {
  const runs = ctx.db.query("runs");
  if (modelId !== undefined && experiment !== undefined) {
    return runs.withIndex("by_model_and_experiment", (q) =>
      q.eq("modelId", modelId).eq("experimentKey", experiment).eq("visibility", "listed"),
    );
  }
  if (modelId !== undefined) {
    return runs.withIndex("by_model", (q) => q.eq("modelId", modelId).eq("visibility", "listed"));
  }
  if (experiment !== undefined) {
    return runs.withIndex("by_experiment", (q) => q.eq("experimentKey", experiment).eq("visibility", "listed"));
  }
  return runs.withIndex("by_visibility", (q) => q.eq("visibility", "listed"));
}

/** A run as the API has it, without what only we look at. */
function shown(run: Doc<"runs">) {
  const { experimentKey: _, visibility: __, result: ___, ...rest } = run;
  return rest;
}

async function named(ctx: QueryCtx, run: Doc<"runs">) {
  const model = await ctx.db.get(run.modelId);
  return { ...shown(run), model: model?.slug, formattedName: model?.formattedName };
}

async function details(ctx: QueryCtx, runId: Id<"runs">) {
  const run = await ctx.db.get(runId);
  if (!run) return null;
  const evals = (await evalsOf(ctx, runId)).map(async (each) => ({ ...each, steps: await stepsOf(ctx, each._id) }));
  return { ...(await named(ctx, run)), evals: await Promise.all(evals) };
}

export const getRunDetails = query({
  args: { runId: v.id("runs") },
  handler: async (ctx, { runId }) => await details(ctx, runId),
});

export const exportRun = internalQuery({
  args: { runId: v.string() },
  handler: async (ctx, { runId }) => {
    const run = await ctx.db
      .query("runs")
      .withIndex("by_run_id", (q) => q.eq("runId", runId))
      .unique();
    return run && (await details(ctx, run._id));
  },
});

export const getOutputUrl = query({
  args: { storageId: v.id("_storage") },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { storageId }) => await ctx.storage.getUrl(storageId),
});

export const listExperiments = query({
  args: {},
  handler: async (ctx) => {
    const stats = await ctx.db.query("experimentStats").take(MOST_EXPERIMENTS);
    const found = await Promise.all(
      stats.map(async ({ experimentKey, runCount, totalEvals, passedEvals, modelCount, models }) => {
        const named = models ?? (await modelsOf(ctx, experimentKey));
        const latest = await listed(ctx, undefined, experimentKey).order("desc").first();
        return {
          name: experimentKey,
          runCount,
          completedRuns: runCount,
          totalEvals,
          passedEvals,
          passRate: rate(passedEvals, totalEvals),
          models: named.map(({ model }) => model),
          modelIds: named.map(({ modelId }) => modelId),
          modelCount,
          latestRun: latest?._creationTime,
        };
      }),
    );
    return found.sort((a, b) => (b.latestRun ?? 0) - (a.latestRun ?? 0));
  },
});

/** Whether a benchmark of this version or this name was minted. */
export const isMinted = internalQuery({
  args: { called: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { called }) => (await benchmarkCalled(ctx, called)) !== null,
});

/** Why no model has a place, for people who wonder; null where there is nothing to say. */
export const whyEmpty = internalQuery({
  args: {},
  returns: v.union(v.string(), v.null()),
  handler: async (ctx) => {
    if ((await ctx.db.query("benchmarks").first()) === null) {
      return "no benchmark is minted here, so nothing is ranked: `cli publish --mint`, or `cli benchmark publish NAME`";
    }
    const sent = (await ctx.db.query("runs").first()) !== null;
    return sent ? "no complete run is of the benchmark and the experiment that are asked for" : "no run was published";
  },
});

export const leaderboardScores = query({
  args: {
    experiment: v.optional(experiment),
    benchmarkVersion: v.optional(v.string()),
    includeRecentPreviousBenchmarks: v.optional(v.boolean()),
    limit: v.optional(v.number()),
  },
  handler: async (ctx, { experiment, benchmarkVersion, includeRecentPreviousBenchmarks, limit }) =>
    await leaderboard(ctx, {
      experimentKey: experiment ?? DEFAULT_EXPERIMENT,
      benchmarkVersion,
      includePrevious: includeRecentPreviousBenchmarks,
      limit,
    }),
});

export const leaderboardVersions = query({
  args: { experiment: v.optional(experiment) },
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("benchmarks").order("desc").take(MOST_VERSIONS)).map((b) => b.version),
});

export const leaderboardModelHistory = query({
  args: {
    modelId: v.optional(v.id("models")),
    model: v.optional(v.string()),
    experiment: v.optional(experiment),
    benchmarkVersion: v.optional(v.string()),
    limit: v.optional(v.number()),
  },
  handler: async (ctx, { modelId, model, experiment, benchmarkVersion, limit = MOST_HISTORY }) => {
    const bySlug = ctx.db.query("models").withIndex("by_slug", (q) => q.eq("slug", model ?? ""));
    const id = modelId ?? (await bySlug.unique())?._id;
    if (id === undefined) return [];
    const experimentKey = experiment ?? DEFAULT_EXPERIMENT;
    const runs =
      benchmarkVersion === undefined || benchmarkVersion === ALL_VERSIONS
        ? listed(ctx, id, experimentKey)
        : ctx.db
            .query("runs")
            .withIndex("by_score", (q) =>
              q
                .eq("modelId", id)
                .eq("experimentKey", experimentKey)
                .eq("benchmarkVersion", benchmarkVersion)
                .eq("visibility", "listed"),
            );
    return (await runs.order("desc").take(atMost(limit, MOST_HISTORY))).flatMap(({ _id, _creationTime, result }) =>
      result && result.scored > 0
        ? [{ _creationTime, runId: _id, totalScore: result.passed / result.scored, scores: ratesOf(result) }]
        : [],
    );
  },
});

export const getModelSummary = query({
  args: { modelId: v.id("models") },
  handler: async (ctx, { modelId }) => {
    const stats = await ctx.db
      .query("modelStats")
      .withIndex("by_model", (q) => q.eq("modelId", modelId))
      .take(MOST_EXPERIMENTS);
    const sum = (field: "runCount" | "totalEvals" | "passedEvals"): number =>
      stats.reduce((total, each) => total + each[field], 0);
    return {
      runCount: sum("runCount"),
      experimentCount: stats.length,
      totalEvals: sum("totalEvals"),
      passedEvals: sum("passedEvals"),
      passRate: rate(sum("passedEvals"), sum("totalEvals")),
    };
  },
});

/** Ends runs that were begun and never completed, and removes what they left. Called by the cron. */
export const failUnfinished = internalMutation({
  args: { olderThanMs: v.optional(v.number()) },
  returns: v.null(),
  handler: async (ctx, { olderThanMs = UNFINISHED_MS }) => {
    const now = Date.now();
    const unfinished = await ctx.db
      .query("runs")
      .withIndex("by_status", (q) => q.eq("status.kind", "running").lte("_creationTime", now - olderThanMs))
      .take(ENDED_AT_ONCE);
    for (const run of unfinished) {
      const failureReason = "[infrastructure] not completed in time";
      await failRun(ctx, run, { kind: "failed", failureReason, durationMs: now - run._creationTime });
      await removeEvals(ctx, run._id);
    }
    return null;
  },
});

function rate(passed: number, total: number): number {
  return total === 0 ? 0 : passed / total;
}

/** A limit that a caller gave. */
function atMost(limit: number, most: number): number {
  return Number.isFinite(limit) ? Math.max(0, Math.min(Math.floor(limit), most)) : most;
}
