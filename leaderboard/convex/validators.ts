/** The shapes that callers send, which are those of the leaderboard's API. */
import { v } from "convex/values";

/** An absent experiment is the default one. */
export const experiment = v.union(
  v.literal("no_guidelines"),
  v.literal("web_search"),
  v.literal("web_search_no_guidelines"),
  v.literal("agents_md"),
);

export const apiKind = v.union(v.literal("chat"), v.literal("responses"));
export const assetType = v.union(v.literal("evalSource"), v.literal("output"));

/** `publish`: send and delete runs and sessions; `admin`: mint and name benchmarks; `export`: read runs whole. */
export const scope = v.union(v.literal("publish"), v.literal("admin"), v.literal("export"));

const count = v.optional(v.number());
export const usage = v.object({
  inputTokens: count,
  inputTokenDetails: v.optional(v.object({ noCacheTokens: count, cacheReadTokens: count, cacheWriteTokens: count })),
  outputTokens: count,
  outputTokenDetails: v.optional(v.object({ textTokens: count, reasoningTokens: count })),
  totalTokens: count,
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

const running = v.object({ kind: v.literal("running") });

export const stepStatus = v.union(
  running,
  v.object({ kind: v.literal("passed"), durationMs: v.number() }),
  v.object({ kind: v.literal("failed"), failureReason: v.string(), durationMs: v.number() }),
  v.object({ kind: v.literal("skipped") }),
);

const graded = {
  durationMs: v.number(),
  generationDurationMs: v.optional(v.number()),
  outputStorageId: v.optional(v.id("_storage")),
  usage: v.optional(usage),
};
export const finishedEvalStatus = v.union(
  v.object({ kind: v.literal("passed"), ...graded }),
  v.object({ kind: v.literal("failed"), failureReason: v.string(), ...graded }),
);
export const evalStatus = v.union(
  v.object({ kind: v.literal("running"), outputStorageId: v.optional(v.id("_storage")) }),
  ...finishedEvalStatus.members,
);

const ended = { durationMs: v.number(), usage: v.optional(usage) };
export const finishedRunStatus = v.union(
  v.object({ kind: v.literal("completed"), ...ended }),
  v.object({ kind: v.literal("failed"), failureReason: v.string(), ...ended }),
);
export const runStatus = v.union(running, ...finishedRunStatus.members);

export const evalCounts = v.object({
  total: v.number(),
  passed: v.number(),
  failed: v.number(),
  pending: v.number(),
});

/** Passed and scored trials, by which rates and intervals are made. */
export const tally = v.object({ passed: v.number(), scored: v.number() });

/** That of one eval, over several runs. */
export const evalTally = v.object({ evalPath: v.string(), ...tally.fields });

/** What a complete run amounts to. */
export const runResult = v.object({
  ...tally.fields,
  categories: v.record(v.string(), tally),
  /** Paths of the evals that were scored. Absent from documents of an older version, until they are computed again. */
  evals: v.optional(v.object({ passed: v.array(v.string()), failed: v.array(v.string()) })),
  costUsd: v.union(v.number(), v.null()),
});

export const namedModel = v.object({ modelId: v.id("models"), model: v.string() });

export const interval = v.object({ low: v.number(), high: v.number() });

export const sessionStatus = v.union(
  v.literal("golden"),
  v.literal("correct"),
  v.literal("incorrect"),
  v.literal("needs_review"),
);

/** A format in which sessions are exported. */
export const exportFormat = v.union(v.literal("deepeval"), v.literal("openai"), v.literal("text"));

/** The file of a session in each format; a session without an exchange has none in some. */
const uploaded = v.optional(v.id("_storage"));
export const sessionFiles = v.object({ deepeval: uploaded, openai: uploaded, text: uploaded });

export const sessionPart = v.object({ storageId: v.id("_storage"), size: v.number() });
const stored = v.optional(sessionPart);
export const sessionParts = v.object({ deepeval: stored, openai: stored, text: stored });

/** A key of exports, as a file of `keys/` has it. Days are of UTC, YYYY-MM-DD. */
export const exportKey = v.object({
  name: v.string(),
  keySha256: v.string(),
  /** `export`, or `export:STATUS` for sessions of one status. */
  scopes: v.array(v.string()),
  expires: v.union(v.string(), v.null()),
  revoked: v.union(v.string(), v.null()),
});
