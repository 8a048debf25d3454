/** What a leaderboard shows, for queries and for HTTP. */
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";
import { rankRanges } from "./ranks";
import { ALL_VERSIONS, benchmarkCalled, benchmarkOf } from "./scores";

/** Models of one version that are given, at most: with two versions before it, a query stays below 1,000 documents. */
const MOST_SHOWN = 300;
const MOST_BENCHMARKS = 20;
const PREVIOUS_BENCHMARKS = 2;
/** Models whose ranks are compared pair by pair: of more, a query would take too long. */
const MOST_COMPARED = 40;
/** Scored trials below which a score is provisional: its intervals reach further than ten points either way. */
const PROVISIONAL = 100;

export interface Selection {
  readonly experimentKey: string;
  /** A version or its name. Absent: the newest with scores. `all`: across versions. */
  readonly benchmarkVersion?: string | undefined;
  /** Whether models without a score there are shown with one of the versions before it. */
  readonly includePrevious?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** The scores of a selection, best first. Equal ones share a rank, and the next one is left out. */
export async function leaderboard(ctx: QueryCtx, selection: Selection) {
  const limit = Math.max(0, Math.min(Math.floor(selection.limit ?? MOST_SHOWN), MOST_SHOWN));
  const { selected, previous } = await versions(ctx, selection);
  if (selected === null) return [];
  const shown = await scoresOf(ctx, selection.experimentKey, selected);
  const models = new Set(shown.map((score) => score.modelId));
  for (const version of selection.includePrevious ? previous : []) {
    for (const score of await scoresOf(ctx, selection.experimentKey, version)) {
      if (models.has(score.modelId)) continue;
      models.add(score.modelId);
      shown.push(score);
    }
  }
  const minted = new Map<string, Doc<"benchmarks"> | null>();
  for (const version of new Set([selected, ...shown.map((score) => score.version)])) {
    minted.set(version, version === ALL_VERSIONS ? null : await benchmarkOf(ctx, version));
  }
  shown.sort((a, b) => b.totalScore - a.totalScore || (a.model < b.model ? -1 : 1));
  const ranks = await ranksOf(ctx, selection.experimentKey, selected);
  return shown.slice(0, limit).map((score) => {
    const rank = 1 + shown.findIndex(({ totalScore }) => totalScore === score.totalScore);
    const possible = score.version === selected ? ranks?.get(score.modelId) : undefined;
    return {
      rank,
      ranks: possible ? [Math.min(rank, possible[0]), Math.max(rank, possible[1])] : null,
      isProvisional: score.scored < PROVISIONAL,
      ...entry(score, selected, minted.get(score.version) ?? null),
    };
  });
}

/** The ranks that each model of a version can have; null of too many models. */
async function ranksOf(
  ctx: QueryCtx,
  experimentKey: string,
  version: string,
): Promise<ReadonlyMap<Id<"models">, readonly [number, number]> | null> {
  const tallies = await ctx.db
    .query("tallies")
    .withIndex("by_board", (q) => q.eq("experimentKey", experimentKey).eq("version", version))
    .take(MOST_COMPARED + 1);
  if (tallies.length > MOST_COMPARED) return null;
  const ranges = rankRanges(tallies.map(({ evals }) => evals));
  return new Map(tallies.map(({ modelId }, index) => [modelId, ranges[index]!]));
}

function entry(score: Doc<"scores">, selected: string, benchmark: Doc<"benchmarks"> | null) {
  const { _id, _creationTime, experimentKey: _, version, openRouterFirstSeenAt, intervalTheseEvals, ...shown } = score;
  return {
    ...shown,
    intervalTheseEvals: intervalTheseEvals ?? null,
    openRouterFirstSeenAt: openRouterFirstSeenAt ?? null,
    benchmarkVersion: selected,
    scoreBenchmarkVersion: version,
    scoreBenchmarkName: benchmark?.name ?? null,
    scoreBenchmarkEvalCount: benchmark?.evalCount ?? null,
    scoreBenchmarkMintedAt: benchmark?._creationTime ?? null,
    matchesSelectedBenchmark: version === selected,
  };
}

async function versions(
  ctx: QueryCtx,
  { experimentKey, benchmarkVersion }: Selection,
): Promise<{ selected: string | null; previous: string[] }> {
  const minted = (await ctx.db.query("benchmarks").order("desc").take(MOST_BENCHMARKS)).map((each) => each.version);
  if (benchmarkVersion === ALL_VERSIONS) return { selected: ALL_VERSIONS, previous: [] };
  if (benchmarkVersion !== undefined) {
    const selected = (await benchmarkCalled(ctx, benchmarkVersion))?.version ?? benchmarkVersion;
    return { selected, previous: before(minted, selected) };
  }
  for (const version of minted) {
    const best = ctx.db
      .query("scores")
      .withIndex("by_board", (q) => q.eq("experimentKey", experimentKey).eq("version", version));
    if (await best.first()) return { selected: version, previous: before(minted, version) };
  }
  return { selected: null, previous: [] };
}

function before(minted: readonly string[], version: string): string[] {
  const at = minted.indexOf(version);
  return at === -1 ? [] : minted.slice(at + 1, at + 1 + PREVIOUS_BENCHMARKS);
}

async function scoresOf(ctx: QueryCtx, experimentKey: string, version: string): Promise<Doc<"scores">[]> {
  return await ctx.db
    .query("scores")
    .withIndex("by_board", (q) => q.eq("experimentKey", experimentKey).eq("version", version))
    .order("desc")
    .take(MOST_SHOWN);
}
