/** For benchmarks: a large leaderboard at once, and what one query of it reads. */
import { makeFunctionReference } from "convex/server";
import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalMutation, internalQuery } from "./_generated/server";
import { modelsOf } from "./scores";

const EVALS = 120;
const CATEGORIES = 8;

/** Models with their runs. Plans are left out: no query reads them, and they would fill the memory. */
export const fill = internalMutation({
  args: { firstModel: v.number(), models: v.number(), runs: v.number(), versions: v.array(v.string()) },
  handler: async (ctx, { firstModel, models, runs, versions }) => {
    for (let n = firstModel; n < firstModel + models; n++) {
      const modelId = await ctx.db.insert("models", { slug: `acme/${n}`, formattedName: `Model ${n}` });
      let latestRunId: Id<"runs"> | null = null;
      for (let run = 0; run < runs; run++) {
        const passed = (n * 7 + run) % EVALS;
        latestRunId = await ctx.db.insert("runs", {
          modelId,
          provider: "acme",
          runId: `${n}/${run}`,
          plannedEvals: [],
          benchmarkVersion: versions[run % versions.length],
          status: { kind: "completed", durationMs: 1 },
          experimentKey: "default",
          visibility: "listed",
          evalCounts: { total: EVALS, passed, failed: EVALS - passed, pending: 0 },
          result: { passed, scored: EVALS, categories: { a: { passed, scored: EVALS } }, costUsd: 1 },
        });
      }
      for (const version of [...versions, "all"]) {
        const names = Array.from({ length: CATEGORIES }, (_, index) => [`category ${index}`, 0.5] as const);
        await ctx.db.insert("scores", {
          modelId,
          experimentKey: "default",
          version,
          model: `acme/${n}`,
          formattedName: `Model ${n}`,
          totalScore: (n % 997) / 997,
          totalScoreErrorBar: 0.1,
          interval: { low: 0, high: 1 },
          scores: Object.fromEntries(names),
          scoreErrorBars: Object.fromEntries(names),
          averageRunDurationMs: 1,
          averageRunDurationMsErrorBar: 0,
          averageRunCostUsd: 1,
          averageRunCostUsdErrorBar: 0,
          averageEvalDurationMs: 1,
          passed: 1,
          scored: 1,
          runCount: 10,
          latestRunId: latestRunId!,
          latestRunTime: 1,
        });
      }
      await ctx.db.insert("modelStats", {
        modelId,
        experimentKey: "default",
        runCount: runs,
        totalEvals: runs * EVALS,
        passedEvals: runs,
        costUsd: runs,
        pricedRuns: runs,
      });
    }
    return null;
  },
});

/** Names the models in the sums of their experiments, as runs do that are complete. */
export const nameModels = internalMutation({
  args: {},
  handler: async (ctx) => {
    for (const { _id, experimentKey } of await ctx.db.query("experimentStats").collect()) {
      await ctx.db.patch(_id, { models: await modelsOf(ctx, experimentKey) });
    }
    return null;
  },
});

/** What a public query reads. */
export const reads = internalQuery({
  args: { name: v.string(), args: v.any() },
  handler: async (ctx, { name, args }) => {
    await ctx.runQuery(makeFunctionReference<"query">(name), args);
    const { documentsRead, bytesRead } = await ctx.meta.getTransactionMetrics();
    return { documents: documentsRead.used, bytes: bytesRead.used };
  },
});
