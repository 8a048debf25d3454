/**
 * The mutations of a leaderboard deployment, as strict as it may be and without any idempotency: the same call twice
 * makes two of what it makes, or throws.
 */
import { v, type PropertyValidators } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { requireToken } from "./auth";
import {
  apiKind,
  assetType,
  experiment,
  finishedEvalStatus,
  finishedRunStatus,
  stepName,
  stepStatus,
} from "./validators";

const withToken = <Args extends PropertyValidators>(args: Args) => ({ token: v.string(), ...args });

async function existing<Table extends "models" | "runs" | "evals">(
  ctx: MutationCtx,
  id: Id<Table>,
  what: string,
): Promise<Doc<Table>> {
  const document = await ctx.db.get(id);
  if (!document) throw new Error(`${what} not found`);
  return document;
}

async function runningEval(ctx: MutationCtx, id: Id<"evals">): Promise<Doc<"evals">> {
  const found = await existing(ctx, id, "Eval");
  if (found.status.kind !== "running") throw new Error(`Eval is already ${found.status.kind}`);
  return found;
}

export const ensureModelFromSlug = mutation({
  args: withToken({
    slug: v.string(),
    formattedName: v.string(),
    provider: v.optional(v.string()),
    apiKind: v.optional(apiKind),
    openRouterFirstSeenAt: v.optional(v.number()),
  }),
  returns: v.id("models"),
  handler: async (ctx, { token, ...model }) => {
    await requireToken(ctx, token);
    const known = await ctx.db
      .query("models")
      .withIndex("by_slug", (q) => q.eq("slug", model.slug))
      .unique();
    return known?._id ?? (await ctx.db.insert("models", model));
  },
});

export const startRun = mutation({
  args: withToken({
    modelId: v.id("models"),
    provider: v.string(),
    runId: v.optional(v.string()),
    plannedEvals: v.array(v.string()),
    benchmarkVersion: v.optional(v.string()),
    experiment: v.optional(experiment),
  }),
  returns: v.id("runs"),
  handler: async (ctx, { token, ...run }) => {
    await requireToken(ctx, token);
    await existing(ctx, run.modelId, "Model");
    return await ctx.db.insert("runs", { ...run, status: { kind: "running" } });
  },
});

export const startEval = mutation({
  args: withToken({
    runId: v.id("runs"),
    evalPath: v.string(),
    category: v.string(),
    name: v.string(),
    task: v.optional(v.string()),
    evalSourceStorageId: v.optional(v.id("_storage")),
  }),
  returns: v.id("evals"),
  handler: async (ctx, { token, ...started }) => {
    await requireToken(ctx, token);
    const run = await existing(ctx, started.runId, "Run");
    if (started.evalPath !== `${started.category}/${started.name}`) throw new Error("evalPath is not category/name");
    if (!run.plannedEvals.includes(started.evalPath)) throw new Error(`${started.evalPath} is not planned`);
    return await ctx.db.insert("evals", { ...started, status: { kind: "running" } });
  },
});

export const recordStep = mutation({
  args: withToken({ evalId: v.id("evals"), name: stepName, status: stepStatus }),
  returns: v.id("steps"),
  handler: async (ctx, { token, ...step }) => {
    await requireToken(ctx, token);
    await existing(ctx, step.evalId, "Eval");
    return await ctx.db.insert("steps", step);
  },
});

export const updateEvalOutput = mutation({
  args: withToken({ evalId: v.id("evals"), outputStorageId: v.id("_storage") }),
  returns: v.null(),
  handler: async (ctx, { token, evalId, outputStorageId }) => {
    await requireToken(ctx, token);
    const { status } = await existing(ctx, evalId, "Eval");
    await ctx.db.patch(evalId, { status: { ...status, outputStorageId } });
    return null;
  },
});

export const completeEval = mutation({
  args: withToken({ evalId: v.id("evals"), status: finishedEvalStatus }),
  returns: v.null(),
  handler: async (ctx, { token, evalId, status }) => {
    await requireToken(ctx, token);
    await runningEval(ctx, evalId);
    await ctx.db.patch(evalId, { status });
    return null;
  },
});

export const completeRun = mutation({
  args: withToken({ runId: v.id("runs"), status: finishedRunStatus }),
  returns: v.null(),
  handler: async (ctx, { token, runId, status }) => {
    await requireToken(ctx, token);
    const run = await existing(ctx, runId, "Run");
    if (run.status.kind !== "running") throw new Error(`Run is already ${run.status.kind}`);
    await ctx.db.patch(runId, { status });
    return null;
  },
});

export const deleteRun = mutation({
  args: withToken({ runId: v.id("runs") }),
  returns: v.null(),
  handler: async (ctx, { token, runId }) => {
    await requireToken(ctx, token);
    await existing(ctx, runId, "Run");
    const evals = ctx.db.query("evals").withIndex("by_run", (q) => q.eq("runId", runId));
    for (const { _id: evalId, status } of await evals.collect()) {
      const steps = ctx.db.query("steps").withIndex("by_eval", (q) => q.eq("evalId", evalId));
      for (const step of await steps.collect()) await ctx.db.delete(step._id);
      // Throws for a file that is already gone, and then nothing of the run is deleted.
      if (status.outputStorageId !== undefined) await ctx.storage.delete(status.outputStorageId);
      await ctx.db.delete(evalId);
    }
    await ctx.db.delete(runId);
    return null;
  },
});

export const checkAssetHash = mutation({
  args: withToken({ hash: v.string() }),
  returns: v.object({ exists: v.boolean(), storageId: v.union(v.id("_storage"), v.null()) }),
  handler: async (ctx, { token, hash }) => {
    await requireToken(ctx, token);
    const known = await ctx.db
      .query("assets")
      .withIndex("by_hash", (q) => q.eq("hash", hash))
      .first();
    return { exists: known !== null, storageId: known?.storageId ?? null };
  },
});

export const registerAsset = mutation({
  args: withToken({ hash: v.string(), assetType, storageId: v.id("_storage") }),
  returns: v.id("assets"),
  handler: async (ctx, { token, ...asset }) => {
    await requireToken(ctx, token);
    return await ctx.db.insert("assets", asset);
  },
});

export const generateUploadUrl = mutation({
  args: withToken({}),
  returns: v.string(),
  handler: async (ctx, { token }) => {
    await requireToken(ctx, token);
    return await ctx.storage.generateUploadUrl();
  },
});

export const mintBenchmark = mutation({
  args: withToken({ version: v.string(), evalCount: v.number(), curatedModels: v.array(v.string()) }),
  returns: v.null(),
  handler: async (ctx, { token, ...benchmark }) => {
    await requireToken(ctx, token);
    await ctx.db.insert("benchmarks", benchmark);
    return null;
  },
});
