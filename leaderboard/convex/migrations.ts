/**
 * Changes of stored data, batch after batch, while the app is used. `npx convex run migrations:runAll` starts those that are not
 * done, and goes on with one that was interrupted; a deployment runs it after each release.
 */
import { Migrations } from "@convex-dev/migrations";
import { components, internal } from "./_generated/api";
import type { DataModel } from "./_generated/dataModel";
import { evalsOf } from "./lifecycle";
import { countsOf, resultOf } from "./results";
import { updateScores } from "./scores";

const migrations = new Migrations<DataModel>(components.migrations);

/** Results of runs, and the scores that they make, as this version computes them. */
export const recomputeScores = migrations.define({
  table: "runs",
  batchSize: 5,
  migrateOne: async (ctx, run) => {
    if (run.visibility !== "listed") return;
    const evals = await evalsOf(ctx, run._id);
    const computed = { evalCounts: countsOf(evals), result: resultOf(evals) };
    await ctx.db.patch(run._id, computed);
    await updateScores(ctx, { ...run, ...computed });
  },
});

/** `npx convex run migrations:run '{"fn":"migrations:recomputeScores","reset":true}'` runs one again. */
export const run = migrations.runner();

export const runAll = migrations.runner([internal.migrations.recomputeScores]);
