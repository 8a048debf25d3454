import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import {
  apiKind,
  assetType,
  evalCounts,
  evalStatus,
  evalTally,
  experiment,
  exportKey,
  interval,
  namedModel,
  runResult,
  runStatus,
  scope,
  sessionParts,
  sessionStatus,
  stepName,
  stepStatus,
} from "./validators";

/** `default` where a run has no experiment. */
const experimentKey = v.string();

export default defineSchema({
  authTokens: defineTable({
    name: v.string(),
    /** The part of the token that may be seen. */
    publicId: v.string(),
    /** SHA-256 of the other part, in hexadecimal. */
    secretHash: v.string(),
    scopes: v.array(scope),
    expiresAt: v.optional(v.number()),
    lastUsedAt: v.optional(v.number()),
    revokedAt: v.optional(v.number()),
  })
    .index("by_public_id", ["publicId"])
    .index("by_name", ["name"]),

  models: defineTable({
    slug: v.string(),
    formattedName: v.string(),
    provider: v.optional(v.string()),
    apiKind: v.optional(apiKind),
    openRouterFirstSeenAt: v.optional(v.number()),
  }).index("by_slug", ["slug"]),

  runs: defineTable({
    modelId: v.id("models"),
    provider: v.string(),
    /** The publisher's own text, by which a repeated `startRun` is known. */
    runId: v.optional(v.string()),
    plannedEvals: v.array(v.string()),
    benchmarkVersion: v.optional(v.string()),
    experiment: v.optional(experiment),
    status: runStatus,
    experimentKey,
    /** `hidden` until all of it is there, and where it failed. */
    visibility: v.union(v.literal("hidden"), v.literal("listed")),
    evalCounts,
    result: v.optional(runResult),
  })
    .index("by_run_id", ["runId"])
    .index("by_status", ["status.kind"])
    .index("by_visibility", ["visibility"])
    .index("by_experiment", ["experimentKey", "visibility"])
    .index("by_model", ["modelId", "visibility"])
    .index("by_model_and_experiment", ["modelId", "experimentKey", "visibility"])
    .index("by_score", ["modelId", "experimentKey", "benchmarkVersion", "visibility"])
    .index("by_version", ["benchmarkVersion", "visibility"]),

  evals: defineTable({
    runId: v.id("runs"),
    evalPath: v.string(),
    category: v.string(),
    name: v.string(),
    task: v.optional(v.string()),
    evalSourceStorageId: v.optional(v.id("_storage")),
    status: evalStatus,
  })
    .index("by_run", ["runId", "evalPath"])
    .index("by_output", ["status.outputStorageId"]),

  steps: defineTable({ evalId: v.id("evals"), name: stepName, status: stepStatus }).index("by_eval", [
    "evalId",
    "name",
  ]),

  assets: defineTable({ hash: v.string(), assetType, storageId: v.id("_storage") }).index("by_hash", ["hash"]),

  benchmarks: defineTable({
    version: v.string(),
    evalCount: v.number(),
    curatedModels: v.array(v.string()),
    name: v.optional(v.string()),
  })
    .index("by_version", ["version"])
    .index("by_name", ["name"]),

  /** One for each model, experiment and version, and one for `all` versions: what a leaderboard shows. */
  scores: defineTable({
    modelId: v.id("models"),
    experimentKey,
    version: v.string(),
    model: v.string(),
    formattedName: v.string(),
    openRouterFirstSeenAt: v.optional(v.number()),
    totalScore: v.number(),
    totalScoreErrorBar: v.number(),
    /** 95 %, over evals of this kind. */
    interval,
    /** 95 %, over further replies to these evals. Absent from documents of an older version, until the next run. */
    intervalTheseEvals: v.optional(interval),
    scores: v.record(v.string(), v.number()),
    scoreErrorBars: v.record(v.string(), v.number()),
    averageRunDurationMs: v.number(),
    averageRunDurationMsErrorBar: v.number(),
    averageRunCostUsd: v.union(v.number(), v.null()),
    averageRunCostUsdErrorBar: v.union(v.number(), v.null()),
    averageEvalDurationMs: v.number(),
    passed: v.number(),
    scored: v.number(),
    runCount: v.number(),
    latestRunId: v.id("runs"),
    latestRunTime: v.number(),
  })
    .index("by_board", ["experimentKey", "version", "totalScore"])
    .index("by_model", ["modelId", "experimentKey", "version"]),

  /** What ranks are made by, one for each of `scores`. */
  tallies: defineTable({ modelId: v.id("models"), experimentKey, version: v.string(), evals: v.array(evalTally) })
    .index("by_board", ["experimentKey", "version"])
    .index("by_model", ["modelId", "experimentKey", "version"]),

  /** Sums over the listed runs of a model in an experiment. */
  modelStats: defineTable({
    modelId: v.id("models"),
    experimentKey,
    runCount: v.number(),
    totalEvals: v.number(),
    passedEvals: v.number(),
    costUsd: v.number(),
    /** Runs whose cost is known. */
    pricedRuns: v.number(),
  })
    .index("by_model", ["modelId", "experimentKey"])
    .index("by_experiment", ["experimentKey"]),

  experimentStats: defineTable({
    experimentKey,
    runCount: v.number(),
    totalEvals: v.number(),
    passedEvals: v.number(),
    modelCount: v.number(),
    /** The newest of its models. Absent from documents of an older version, until the next run. */
    models: v.optional(v.array(namedModel)),
  }).index("by_experiment", ["experimentKey"]),

  /** Coding sessions that are marked as evals, as `cli sessions push` sent them. */
  sessions: defineTable({
    sessionId: v.string(),
    /** Of all that was sent of it: by this, a repeated call and a late one are known. */
    digest: v.string(),
    status: sessionStatus,
    tags: v.array(v.string()),
    /** Minus the time of the last message in ms since 1970, so that the newest come first. */
    order: v.number(),
    parts: sessionParts,
  })
    .index("by_session_id", ["sessionId"])
    .index("by_order", ["order", "sessionId"])
    .index("by_status", ["status", "order", "sessionId"]),

  /** Keys of exports: one document, which is replaced as a whole. */
  exportKeys: defineTable({ digest: v.string(), keys: v.array(exportKey) }),
});
