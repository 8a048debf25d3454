/** What a complete run amounts to, and what some of them amount to together. */
import type { Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { deviation, mean, overEvals, sum, wilson } from "./arithmetic";
import type { evalCounts, evalTally, runResult } from "./validators";

export type RunResult = Infer<typeof runResult>;
export type EvalTally = Infer<typeof evalTally>;

/** What a failure begins with that is not the model's: the eval does not count. */
const UNSCORED = ["[rate_limit]", "[infrastructure]"];

export function isScored({ status }: Pick<Doc<"evals">, "status">): boolean {
  return status.kind !== "failed" || !UNSCORED.some((mark) => status.failureReason.startsWith(mark));
}

export function countsOf(evals: readonly Doc<"evals">[]): Infer<typeof evalCounts> {
  const counted = (kind: string): number => evals.filter(({ status }) => status.kind === kind).length;
  return { total: evals.length, passed: counted("passed"), failed: counted("failed"), pending: counted("running") };
}

export function resultOf(evals: readonly Doc<"evals">[]): RunResult {
  const categories: RunResult["categories"] = {};
  const scored = evals.filter(isScored);
  for (const each of scored) {
    const tally = (categories[each.category] ??= { passed: 0, scored: 0 });
    tally.scored += 1;
    if (each.status.kind === "passed") tally.passed += 1;
  }
  const pathsOf = (passed: boolean): string[] =>
    scored.filter(({ status }) => (status.kind === "passed") === passed).map(({ evalPath }) => evalPath);
  const costs = evals.map(costOf);
  const known = costs.filter((cost) => cost !== null);
  return {
    passed: sum(Object.values(categories).map((tally) => tally.passed)),
    scored: sum(Object.values(categories).map((tally) => tally.scored)),
    categories,
    evals: { passed: pathsOf(true), failed: pathsOf(false) },
    costUsd: known.length === 0 ? null : sum(known),
  };
}

function costOf({ status }: Doc<"evals">): number | null {
  const raw: unknown = status.kind === "running" ? undefined : status.usage?.raw;
  const cost = typeof raw === "object" && raw !== null && "cost" in raw ? raw.cost : undefined;
  return typeof cost === "number" && Number.isFinite(cost) ? cost : null;
}

/** A run that has a score: complete, with a trial that counts. */
export type ScoredRun = Doc<"runs"> & { readonly result: RunResult; readonly status: { readonly durationMs: number } };

export function hasScore(run: Doc<"runs">): run is ScoredRun {
  return run.status.kind === "completed" && run.result !== undefined && run.result.scored > 0;
}

/** What a leaderboard shows of some runs, newest first and at least one. */
export function scoreOf(runs: readonly [ScoredRun, ...ScoredRun[]]) {
  const totals = runs.map(({ result }) => result.passed / result.scored);
  const names = new Set(runs.flatMap(({ result }) => Object.keys(result.categories)));
  const byCategory = [...names].sort().map((name) => [name, ratesIn(runs, name)] as const);
  const durations = runs.map(({ status }) => status.durationMs);
  const costs = runs.map(({ result }) => result.costUsd).filter((cost) => cost !== null);
  const passed = sum(runs.map(({ result }) => result.passed));
  const scored = sum(runs.map(({ result }) => result.scored));
  const evals = talliesOf(runs);
  return {
    totalScore: mean(totals),
    totalScoreErrorBar: deviation(totals),
    interval: overEvals(evals),
    intervalTheseEvals: wilson(passed, scored),
    scores: Object.fromEntries(byCategory.map(([name, rates]) => [name, mean(rates)])),
    scoreErrorBars: Object.fromEntries(byCategory.map(([name, rates]) => [name, deviation(rates)])),
    averageRunDurationMs: mean(durations),
    averageRunDurationMsErrorBar: deviation(durations),
    averageRunCostUsd: costs.length === 0 ? null : mean(costs),
    averageRunCostUsdErrorBar: costs.length === 0 ? null : deviation(costs),
    averageEvalDurationMs: sum(durations) / sum(runs.map(({ evalCounts }) => evalCounts.total)),
    passed,
    scored,
    runCount: runs.length,
    latestRunId: runs[0]._id,
    latestRunTime: runs[0]._creationTime,
  };
}

export function ratesOf({ categories }: RunResult): Record<string, number> {
  return Object.fromEntries(Object.entries(categories).map(([name, { passed, scored }]) => [name, passed / scored]));
}

/** The trials of these runs together, by eval. */
export function talliesOf(runs: readonly ScoredRun[]): EvalTally[] {
  const found = new Map<string, EvalTally>();
  const add = (evalPath: string, passed: number): void => {
    const own = found.get(evalPath) ?? { evalPath, passed: 0, scored: 0 };
    found.set(evalPath, { evalPath, passed: own.passed + passed, scored: own.scored + 1 });
  };
  for (const { result } of runs) {
    for (const path of result.evals?.passed ?? []) add(path, 1);
    for (const path of result.evals?.failed ?? []) add(path, 0);
  }
  return [...found.values()];
}

function ratesIn(runs: readonly ScoredRun[], category: string): number[] {
  const tallies = runs.map(({ result }) => result.categories[category]).filter((tally) => tally !== undefined);
  return tallies.map(({ passed, scored }) => passed / scored);
}
