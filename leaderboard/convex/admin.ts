/**
 * What publishers call. Every call may be repeated, because an answer was lost or a request was doubled: the second one changes
 * nothing and answers like the first.
 */
import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { requireToken, withToken } from "./auth";
import { failRun, isStored, listRun, removeOutput, removeRun } from "./lifecycle";
import { checkAmount, checkFinished, checkName, checkPlan, checkText } from "./limits";
import { benchmarkCalled, benchmarkOf, DEFAULT_EXPERIMENT } from "./scores";
import {
  apiKind,
  assetType,
  experiment,
  finishedEvalStatus,
  finishedRunStatus,
  stepName,
  stepStatus,
} from "./validators";

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
    await requireToken(ctx, token, "publish");
    checkName("slug", model.slug);
    checkName("formattedName", model.formattedName);
    if (model.provider !== undefined) checkName("provider", model.provider);
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
    await requireToken(ctx, token, "publish");
    await existing(ctx, run.modelId, "Model");
    checkName("provider", run.provider);
    checkPlan(run.plannedEvals);
    if (run.benchmarkVersion !== undefined) checkName("benchmarkVersion", run.benchmarkVersion);
    const known = run.runId === undefined ? null : await runOf(ctx, run.runId);
    if (known) {
      const other = otherPlan(known, run);
      if (other) throw new ConvexError(`Run ${run.runId} was started with another ${other}`);
      return known._id;
    }
    return await ctx.db.insert("runs", {
      ...run,
      status: { kind: "running" },
      experimentKey: run.experiment ?? DEFAULT_EXPERIMENT,
      visibility: "hidden",
      evalCounts: { total: 0, passed: 0, failed: 0, pending: 0 },
    });
  },
});

async function runOf(ctx: MutationCtx, runId: string): Promise<Doc<"runs"> | null> {
  checkName("runId", runId);
  return await ctx.db
    .query("runs")
    .withIndex("by_run_id", (q) => q.eq("runId", runId))
    .unique();
}

/** What a run of the same text was not started with. */
function otherPlan(known: Doc<"runs">, run: Partial<Doc<"runs">>): string | undefined {
  const fields = ["modelId", "provider", "plannedEvals", "benchmarkVersion", "experiment"] as const;
  return fields.find((field) => !same(known[field], run[field]));
}

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
    await requireToken(ctx, token, "publish");
    const run = await existing(ctx, started.runId, "Run");
    if (started.evalPath !== `${started.category}/${started.name}`)
      throw new ConvexError("evalPath is not category/name");
    if (!run.plannedEvals.includes(started.evalPath)) throw new ConvexError(`${started.evalPath} is not planned`);
    if (started.task !== undefined) checkText("task", started.task);
    const known = await ctx.db
      .query("evals")
      .withIndex("by_run", (q) => q.eq("runId", run._id).eq("evalPath", started.evalPath))
      .unique();
    if (known) return known._id;
    requireRunning(run);
    return await ctx.db.insert("evals", { ...started, status: { kind: "running" } });
  },
});

export const recordStep = mutation({
  args: withToken({ evalId: v.id("evals"), name: stepName, status: stepStatus }),
  returns: v.id("steps"),
  handler: async (ctx, { token, ...step }) => {
    await requireToken(ctx, token, "publish");
    if ("durationMs" in step.status) checkAmount("durationMs", step.status.durationMs);
    if ("failureReason" in step.status) checkText("failureReason", step.status.failureReason);
    const owner = await existing(ctx, step.evalId, "Eval");
    const known = await ctx.db
      .query("steps")
      .withIndex("by_eval", (q) => q.eq("evalId", owner._id).eq("name", step.name))
      .unique();
    // A late `running` must not undo what has ended since.
    if (known && (step.status.kind === "running" || same(known.status, step.status))) return known._id;
    if (known && known.status.kind !== "running") throw new ConvexError(`Step is already ${known.status.kind}`);
    if (known) {
      await ctx.db.patch(known._id, { status: step.status });
      return known._id;
    }
    requireRunning(await existing(ctx, owner.runId, "Run"));
    return await ctx.db.insert("steps", step);
  },
});

export const updateEvalOutput = mutation({
  args: withToken({ evalId: v.id("evals"), outputStorageId: v.id("_storage") }),
  returns: v.null(),
  handler: async (ctx, { token, evalId, outputStorageId }) => {
    await requireToken(ctx, token, "publish");
    const { status, runId } = await existing(ctx, evalId, "Eval");
    const before = status.outputStorageId;
    if (before === outputStorageId) return null;
    // A file that is gone may be replaced at any time.
    if (before === undefined || (await isStored(ctx, before))) requireRunning(await existing(ctx, runId, "Run"));
    if (!(await isStored(ctx, outputStorageId))) throw new ConvexError("File not found");
    await ctx.db.patch(evalId, { status: { ...status, outputStorageId } });
    if (before !== undefined) await removeOutput(ctx, before);
    return null;
  },
});

export const completeEval = mutation({
  args: withToken({ evalId: v.id("evals"), status: finishedEvalStatus }),
  returns: v.null(),
  handler: async (ctx, { token, evalId, status }) => {
    await requireToken(ctx, token, "publish");
    checkFinished(status);
    const known = await existing(ctx, evalId, "Eval");
    if (same(known.status, status)) return null;
    if (known.status.kind !== "running") throw new ConvexError(`Eval is already ${known.status.kind}`);
    requireRunning(await existing(ctx, known.runId, "Run"));
    const { outputStorageId } = known.status;
    await ctx.db.patch(evalId, { status: outputStorageId === undefined ? status : { outputStorageId, ...status } });
    return null;
  },
});

export const completeRun = mutation({
  args: withToken({ runId: v.id("runs"), status: finishedRunStatus }),
  returns: v.null(),
  handler: async (ctx, { token, runId, status }) => {
    await requireToken(ctx, token, "publish");
    checkFinished(status);
    const run = await existing(ctx, runId, "Run");
    if (same(run.status, status)) return null;
    if (run.status.kind !== "running") throw new ConvexError(`Run is already ${run.status.kind}`);
    if (status.kind === "completed") await listRun(ctx, run, status);
    else await failRun(ctx, run, status);
    return null;
  },
});

export const deleteRun = mutation({
  args: withToken({ runId: v.id("runs") }),
  returns: v.null(),
  handler: async (ctx, { token, runId }) => {
    await requireToken(ctx, token, "publish");
    const run = await ctx.db.get(runId);
    if (run) await removeRun(ctx, run);
    return null;
  },
});

export const checkAssetHash = mutation({
  args: withToken({ hash: v.string() }),
  returns: v.object({ exists: v.boolean(), storageId: v.union(v.id("_storage"), v.null()) }),
  handler: async (ctx, { token, hash }) => {
    await requireToken(ctx, token, "publish");
    const known = await assetOf(ctx, hash);
    return { exists: known !== null, storageId: known?.storageId ?? null };
  },
});

export const registerAsset = mutation({
  args: withToken({ hash: v.string(), assetType, storageId: v.id("_storage") }),
  returns: v.id("assets"),
  handler: async (ctx, { token, ...asset }) => {
    await requireToken(ctx, token, "publish");
    checkName("hash", asset.hash);
    const known = await assetOf(ctx, asset.hash);
    if (known && (await isStored(ctx, known.storageId))) return known._id;
    if (!(await isStored(ctx, asset.storageId))) throw new ConvexError("File not found");
    if (!known) return await ctx.db.insert("assets", asset);
    await ctx.db.patch(known._id, { storageId: asset.storageId });
    return known._id;
  },
});

export const generateUploadUrl = mutation({
  args: withToken({}),
  returns: v.string(),
  handler: async (ctx, { token }) => {
    await requireToken(ctx, token, "publish");
    return await ctx.storage.generateUploadUrl();
  },
});

export const mintBenchmark = mutation({
  args: withToken({ version: v.string(), evalCount: v.number(), curatedModels: v.array(v.string()) }),
  returns: v.null(),
  handler: async (ctx, { token, ...benchmark }) => {
    await requireToken(ctx, token, "admin");
    checkName("version", benchmark.version);
    checkAmount("evalCount", benchmark.evalCount);
    for (const model of benchmark.curatedModels) checkName("curatedModels", model);
    const known = await benchmarkOf(ctx, benchmark.version);
    if (!known) {
      await ctx.db.insert("benchmarks", benchmark);
      await ctx.scheduler.runAfter(0, internal.scores.recomputeVersion, { version: benchmark.version });
    } else if (known.evalCount !== benchmark.evalCount || !same(known.curatedModels, benchmark.curatedModels)) {
      throw new ConvexError(`Benchmark ${benchmark.version} was minted with other evals or models`);
    }
    return null;
  },
});

/** Gives a minted version a name for people; an empty one takes it away. */
export const nameBenchmark = mutation({
  args: withToken({ version: v.string(), name: v.string() }),
  returns: v.null(),
  handler: async (ctx, { token, version, name }) => {
    await requireToken(ctx, token, "admin");
    if (name !== "") checkName("name", name);
    const known = await benchmarkOf(ctx, version);
    if (!known) throw new ConvexError("Benchmark not found");
    const other = name === "" ? null : await benchmarkCalled(ctx, name);
    if (other && other._id !== known._id) throw new ConvexError(`${name} is another benchmark, ${other.version}`);
    await ctx.db.patch(known._id, { name: name === "" ? undefined : name });
    return null;
  },
});

async function existing<Table extends "models" | "runs" | "evals">(
  ctx: MutationCtx,
  id: Id<Table>,
  what: string,
): Promise<Doc<Table>> {
  const document = await ctx.db.get(id);
  if (!document) throw new ConvexError(`${what} not found`);
  return document;
}

async function assetOf(ctx: MutationCtx, hash: string): Promise<Doc<"assets"> | null> {
  return await ctx.db
    .query("assets")
    .withIndex("by_hash", (q) => q.eq("hash", hash))
    .unique();
}

function requireRunning({ status }: Doc<"runs">): void {
  if (status.kind !== "running") throw new ConvexError(`Run is already ${status.kind}`);
}

/** Whether two values are the same, whatever the order of their fields. */
function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, item]) => [name, sorted(item)]));
}
