import { v } from "convex/values";
import { query } from "./_generated/server";
import { DEFAULT_EXPERIMENT } from "./scores";
import { experiment } from "./validators";

/** When a model ran last and what its runs cost, by which the next one is planned; null where it never ran. */
export const getSchedulingStats = query({
  args: { modelId: v.id("models"), experiment: v.optional(experiment) },
  returns: v.union(v.null(), v.object({ latestRunTime: v.number(), averageRunCostUsd: v.union(v.number(), v.null()) })),
  handler: async (ctx, { modelId, experiment }) => {
    const experimentKey = experiment ?? DEFAULT_EXPERIMENT;
    const stats = await ctx.db
      .query("modelStats")
      .withIndex("by_model", (q) => q.eq("modelId", modelId).eq("experimentKey", experimentKey))
      .unique();
    const latest = await ctx.db
      .query("runs")
      .withIndex("by_model_and_experiment", (q) =>
        q.eq("modelId", modelId).eq("experimentKey", experimentKey).eq("visibility", "listed"),
      )
      .order("desc")
      .first();
    if (!stats || !latest) return null;
    const averageRunCostUsd = stats.pricedRuns === 0 ? null : stats.costUsd / stats.pricedRuns;
    return { latestRunTime: latest._creationTime, averageRunCostUsd };
  },
});
