/**
 * Scores, which are computed when a run is complete, so that no query looks at runs. Only runs of a minted version count, with
 * as many evals as it has; a score is of the last ten, all trials of a publisher's run together.
 */
import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, type MutationCtx, type QueryCtx } from "./_generated/server";
import { hasScore, scoreOf, talliesOf, type ScoredRun } from "./results";
import type { namedModel } from "./validators";

type NamedModel = Infer<typeof namedModel>;

export const ALL_VERSIONS = "all";
export const DEFAULT_EXPERIMENT = "default";

const COUNTED_RUNS = 10;
/** Runs that are looked at to find those that count, and the evals that they may have together: what one mutation reads. */
const READ_RUNS = 200;
const READ_EVALS = 50_000;
/** Of `DATE/RUN/TRIAL`, which a publisher calls a trial: what the trials of its run share. */
const OF_TRIAL = /^(\d{4}-\d\d-\d\d\/[^/]+)\/\d+$/;
const RUNS_PER_BATCH = 50;
/** Models of an experiment that are named. */
const MOST_MODELS = 300;

/** Computes a model's score for a version, and that across versions. */
export async function updateScores(ctx: MutationCtx, run: Doc<"runs">): Promise<void> {
  const { modelId, experimentKey, benchmarkVersion } = run;
  if (benchmarkVersion === undefined) return;
  const own = ctx.db
    .query("runs")
    .withIndex("by_score", (q) =>
      q
        .eq("modelId", modelId)
        .eq("experimentKey", experimentKey)
        .eq("benchmarkVersion", benchmarkVersion)
        .eq("visibility", "listed"),
    );
  await setScore(ctx, run, benchmarkVersion, await counted(ctx, own.order("desc")));
  const all = ctx.db
    .query("runs")
    .withIndex("by_model_and_experiment", (q) =>
      q.eq("modelId", modelId).eq("experimentKey", experimentKey).eq("visibility", "listed"),
    );
  await setScore(ctx, run, ALL_VERSIONS, await counted(ctx, all.order("desc")));
}

/** Those of `runs`, newest first, that count. */
async function counted(ctx: MutationCtx, runs: AsyncIterable<Doc<"runs">>): Promise<ScoredRun[]> {
  const found: ScoredRun[] = [];
  const published = new Set<string>();
  const minted = new Map<string, number | null>();
  let [read, evals] = [0, 0];
  for await (const run of runs) {
    const version = run.benchmarkVersion;
    if (version !== undefined && hasScore(run)) {
      if (!minted.has(version)) minted.set(version, (await benchmarkOf(ctx, version))?.evalCount ?? null);
      if (minted.get(version) === run.plannedEvals.length) {
        published.add(OF_TRIAL.exec(run.runId ?? "")?.[1] ?? run._id);
        if (published.size > COUNTED_RUNS) break;
        found.push(run);
      }
    }
    read += 1;
    evals += run.plannedEvals.length;
    if (read >= READ_RUNS || evals >= READ_EVALS) break;
  }
  return found;
}

export async function benchmarkOf(ctx: Pick<QueryCtx, "db">, version: string): Promise<Doc<"benchmarks"> | null> {
  return await ctx.db
    .query("benchmarks")
    .withIndex("by_version", (q) => q.eq("version", version))
    .unique();
}

/** The minted benchmark with this version or this name. */
export async function benchmarkCalled(ctx: Pick<QueryCtx, "db">, text: string): Promise<Doc<"benchmarks"> | null> {
  const known = await benchmarkOf(ctx, text);
  if (known) return known;
  return await ctx.db
    .query("benchmarks")
    .withIndex("by_name", (q) => q.eq("name", text))
    .first();
}

async function setScore(
  ctx: MutationCtx,
  { modelId, experimentKey }: Doc<"runs">,
  version: string,
  [latest, ...others]: readonly ScoredRun[],
): Promise<void> {
  const score = await ctx.db
    .query("scores")
    .withIndex("by_model", (q) => q.eq("modelId", modelId).eq("experimentKey", experimentKey).eq("version", version))
    .unique();
  const tallies = await ctx.db
    .query("tallies")
    .withIndex("by_model", (q) => q.eq("modelId", modelId).eq("experimentKey", experimentKey).eq("version", version))
    .unique();
  const model = await ctx.db.get(modelId);
  if (!latest || !model) {
    if (score) await ctx.db.delete(score._id);
    if (tallies) await ctx.db.delete(tallies._id);
    return;
  }
  const { slug, formattedName, openRouterFirstSeenAt } = model;
  const board = { modelId, experimentKey, version };
  const nowScore = {
    ...board,
    model: slug,
    formattedName,
    ...(openRouterFirstSeenAt === undefined ? {} : { openRouterFirstSeenAt }),
    ...scoreOf([latest, ...others]),
  };
  const nowTallies = { ...board, evals: talliesOf([latest, ...others]) };
  await (score ? ctx.db.replace(score._id, nowScore) : ctx.db.insert("scores", nowScore));
  await (tallies ? ctx.db.replace(tallies._id, nowTallies) : ctx.db.insert("tallies", nowTallies));
}

/** Adds a run to the sums that are shown (`by` 1), or takes it away (`by` -1). */
export async function updateStats(ctx: MutationCtx, run: Doc<"runs">, by: 1 | -1): Promise<void> {
  const { modelId, experimentKey, evalCounts, result } = run;
  const costUsd = result?.costUsd ?? null;
  const own = await ctx.db
    .query("modelStats")
    .withIndex("by_model", (q) => q.eq("modelId", modelId).eq("experimentKey", experimentKey))
    .unique();
  const before = own ?? { runCount: 0, totalEvals: 0, passedEvals: 0, costUsd: 0, pricedRuns: 0 };
  const after = {
    modelId,
    experimentKey,
    runCount: before.runCount + by,
    totalEvals: before.totalEvals + by * evalCounts.total,
    passedEvals: before.passedEvals + by * evalCounts.passed,
    costUsd: before.costUsd + by * (costUsd ?? 0),
    pricedRuns: before.pricedRuns + (costUsd === null ? 0 : by),
  };
  if (!own) await ctx.db.insert("modelStats", after);
  else if (after.runCount === 0) await ctx.db.delete(own._id);
  else await ctx.db.replace(own._id, after);
  await updateExperiment(ctx, run, by, (after.runCount === 0 ? 0 : 1) - (own ? 1 : 0));
}

/** `change`: how many models the experiment has more than before. */
async function updateExperiment(ctx: MutationCtx, run: Doc<"runs">, by: 1 | -1, change: number): Promise<void> {
  const { experimentKey, evalCounts } = run;
  const known = await ctx.db
    .query("experimentStats")
    .withIndex("by_experiment", (q) => q.eq("experimentKey", experimentKey))
    .unique();
  const before = known ?? { runCount: 0, totalEvals: 0, passedEvals: 0, modelCount: 0, models: [] };
  const after = {
    experimentKey,
    runCount: before.runCount + by,
    totalEvals: before.totalEvals + by * evalCounts.total,
    passedEvals: before.passedEvals + by * evalCounts.passed,
    modelCount: before.modelCount + change,
    models: (change === 0 && before.models) || (await modelsOf(ctx, experimentKey)),
  };
  if (!known) await ctx.db.insert("experimentStats", after);
  else if (after.runCount === 0) await ctx.db.delete(known._id);
  else await ctx.db.replace(known._id, after);
}

/** The newest models of an experiment. What this reads is not for each query: `experimentStats` has it. */
export async function modelsOf(ctx: Pick<QueryCtx, "db">, experimentKey: string): Promise<NamedModel[]> {
  const stats = ctx.db.query("modelStats").withIndex("by_experiment", (q) => q.eq("experimentKey", experimentKey));
  const models = (await stats.order("desc").take(MOST_MODELS)).map(({ modelId }) => ctx.db.get(modelId));
  return (await Promise.all(models)).flatMap((model) => (model ? [{ modelId: model._id, model: model.slug }] : []));
}

/** Computes the scores of a version again, batch after batch: it may have been minted after its runs. */
export const recomputeVersion = internalMutation({
  args: { version: v.string(), cursor: v.optional(v.string()) },
  returns: v.null(),
  handler: async (ctx, { version, cursor }) => {
    const { page, isDone, continueCursor } = await ctx.db
      .query("runs")
      .withIndex("by_version", (q) => q.eq("benchmarkVersion", version).eq("visibility", "listed"))
      .paginate({ numItems: RUNS_PER_BATCH, cursor: cursor ?? null });
    const seen = new Set<string>();
    for (const run of page) {
      const key: `${Id<"models">}|${string}` = `${run.modelId}|${run.experimentKey}`;
      if (!seen.has(key)) await updateScores(ctx, run);
      seen.add(key);
    }
    if (!isDone) await ctx.scheduler.runAfter(0, internal.scores.recomputeVersion, { version, cursor: continueCursor });
    return null;
  },
});
