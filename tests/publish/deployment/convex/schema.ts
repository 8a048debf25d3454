import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { apiKind, assetType, evalStatus, experiment, runStatus, stepName, stepStatus } from "./validators";

export default defineSchema({
  authTokens: defineTable({ name: v.string(), value: v.string() }).index("by_value", ["value"]),
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
    runId: v.optional(v.string()),
    plannedEvals: v.array(v.string()),
    benchmarkVersion: v.optional(v.string()),
    experiment: v.optional(experiment),
    status: runStatus,
  })
    .index("by_model", ["modelId"])
    .index("by_experiment", ["experiment"]),
  evals: defineTable({
    runId: v.id("runs"),
    evalPath: v.string(),
    category: v.string(),
    name: v.string(),
    task: v.optional(v.string()),
    evalSourceStorageId: v.optional(v.id("_storage")),
    status: evalStatus,
  }).index("by_run", ["runId"]),
  steps: defineTable({ evalId: v.id("evals"), name: stepName, status: stepStatus }).index("by_eval", ["evalId"]),
  assets: defineTable({ hash: v.string(), assetType, storageId: v.id("_storage") }).index("by_hash", ["hash"]),
  benchmarks: defineTable({ version: v.string(), evalCount: v.number(), curatedModels: v.array(v.string()) }),
});
