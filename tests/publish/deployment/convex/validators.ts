import { v } from "convex/values";

export const experiment = v.union(
  v.literal("no_guidelines"),
  v.literal("web_search"),
  v.literal("web_search_no_guidelines"),
  v.literal("agents_md"),
);

export const apiKind = v.union(v.literal("chat"), v.literal("responses"));

export const assetType = v.union(v.literal("evalSource"), v.literal("output"));

export const usage = v.object({
  inputTokens: v.optional(v.number()),
  inputTokenDetails: v.optional(
    v.object({
      noCacheTokens: v.optional(v.number()),
      cacheReadTokens: v.optional(v.number()),
      cacheWriteTokens: v.optional(v.number()),
    }),
  ),
  outputTokens: v.optional(v.number()),
  outputTokenDetails: v.optional(
    v.object({ textTokens: v.optional(v.number()), reasoningTokens: v.optional(v.number()) }),
  ),
  totalTokens: v.optional(v.number()),
  raw: v.optional(v.any()),
});

export const stepName = v.union(
  v.literal("filesystem"),
  v.literal("install"),
  v.literal("deploy"),
  v.literal("tsc"),
  v.literal("eslint"),
  v.literal("tests"),
);

export const stepStatus = v.union(
  v.object({ kind: v.literal("running") }),
  v.object({ kind: v.literal("passed"), durationMs: v.number() }),
  v.object({ kind: v.literal("failed"), failureReason: v.string(), durationMs: v.number() }),
  v.object({ kind: v.literal("skipped") }),
);

const finishedEval = {
  durationMs: v.number(),
  generationDurationMs: v.optional(v.number()),
  outputStorageId: v.optional(v.id("_storage")),
  usage: v.optional(usage),
};
export const finishedEvalStatus = v.union(
  v.object({ kind: v.literal("passed"), ...finishedEval }),
  v.object({ kind: v.literal("failed"), failureReason: v.string(), ...finishedEval }),
);
export const evalStatus = v.union(
  v.object({ kind: v.literal("running"), outputStorageId: v.optional(v.id("_storage")) }),
  ...finishedEvalStatus.members,
);

const finishedRun = { durationMs: v.number(), usage: v.optional(usage) };
export const finishedRunStatus = v.union(
  v.object({ kind: v.literal("completed"), ...finishedRun }),
  v.object({ kind: v.literal("failed"), failureReason: v.string(), ...finishedRun }),
);
export const runStatus = v.union(v.object({ kind: v.literal("running") }), ...finishedRunStatus.members);
