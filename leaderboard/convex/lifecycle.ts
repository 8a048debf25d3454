/** Runs as they come and go; what is shown follows. */
import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { countsOf, resultOf } from "./results";
import { updateScores, updateStats } from "./scores";

export async function evalsOf(ctx: Pick<QueryCtx, "db">, runId: Id<"runs">): Promise<Doc<"evals">[]> {
  return await ctx.db
    .query("evals")
    .withIndex("by_run", (q) => q.eq("runId", runId))
    .collect();
}

export async function stepsOf(ctx: Pick<QueryCtx, "db">, evalId: Id<"evals">): Promise<Doc<"steps">[]> {
  return await ctx.db
    .query("steps")
    .withIndex("by_eval", (q) => q.eq("evalId", evalId))
    .collect();
}

/** Shows a run: all of it is there. Throws while it is not. */
export async function listRun(
  ctx: MutationCtx,
  run: Doc<"runs">,
  status: Extract<Doc<"runs">["status"], { kind: "completed" }>,
): Promise<void> {
  const evals = await evalsOf(ctx, run._id);
  const evalCounts = countsOf(evals);
  const missing = run.plannedEvals.length - (evalCounts.total - evalCounts.pending);
  if (missing > 0) throw new ConvexError(`${missing} of ${run.plannedEvals.length} planned evals are not complete`);
  const listed = { status, evalCounts, result: resultOf(evals), visibility: "listed" } as const;
  await ctx.db.patch(run._id, listed);
  const now = { ...run, ...listed };
  await updateStats(ctx, now, 1);
  await updateScores(ctx, now);
}

/** Ends a run that will not be complete. It stays hidden, and what it left is removed. */
export async function failRun(
  ctx: MutationCtx,
  run: Doc<"runs">,
  status: Extract<Doc<"runs">["status"], { kind: "failed" }>,
): Promise<void> {
  await ctx.db.patch(run._id, { status, evalCounts: countsOf(await evalsOf(ctx, run._id)) });
}

export async function removeRun(ctx: MutationCtx, run: Doc<"runs">): Promise<void> {
  await removeEvals(ctx, run._id);
  await ctx.db.delete(run._id);
  if (run.visibility !== "listed") return;
  await updateStats(ctx, run, -1);
  await updateScores(ctx, run);
}

/** Removes the evals of a run with their steps and the files of their replies. Sources stay: other runs have the same. */
export async function removeEvals(ctx: MutationCtx, runId: Id<"runs">): Promise<void> {
  for (const { _id: evalId, status } of await evalsOf(ctx, runId)) {
    for (const step of await stepsOf(ctx, evalId)) await ctx.db.delete(step._id);
    await ctx.db.delete(evalId);
    if (status.outputStorageId !== undefined) await removeOutput(ctx, status.outputStorageId);
  }
}

/** Deletes the file of a reply that no eval has any more; one that is already gone is no obstacle. */
export async function removeOutput(ctx: MutationCtx, file: Id<"_storage">): Promise<void> {
  const other = await ctx.db
    .query("evals")
    .withIndex("by_output", (q) => q.eq("status.outputStorageId", file))
    .first();
  if (!other && (await isStored(ctx, file))) await ctx.storage.delete(file);
}

export async function isStored(ctx: Pick<QueryCtx, "db">, file: Id<"_storage">): Promise<boolean> {
  return (await ctx.db.system.get(file)) !== null;
}
