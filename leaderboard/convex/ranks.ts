/** Which ranks models can have, judged by the evals that two of them share. */
import type { EvalTally } from "./results";

/** Above the 5 % of a ranking, it is not sure that two models differ. */
const ALPHA = 0.05;
/** Of fewer evals that differ, no signs are significant. */
const FEWEST = 6;
/** Differences that are no multiples of a larger share are rounded to these. */
const STEPS = 20;

/**
 * The best and the worst rank of each model, so that with 95 % all of them hold. A model is before another where their paired
 * difference is significant among those of all pairs. S. Holm, "A simple sequentially rejective multiple test procedure",
 * Scandinavian Journal of Statistics 6 (1979); D. Al Mohamad, J. J. Goeman and E. W. van Zwet, "Simultaneous confidence intervals
 * for ranks with application to ranking institutions", Biometrics 78 (2022).
 */
export function rankRanges(models: readonly (readonly EvalTally[])[]): (readonly [number, number])[] {
  const byEval = models.map((tallies) => new Map(tallies.map((tally) => [tally.evalPath, tally])));
  const tests: { ahead: number; behind: number; p: number }[] = [];
  for (let first = 0; first < models.length; first++) {
    for (let second = first + 1; second < models.length; second++) {
      const steps = stepsBetween(models[first]!, byEval[second]!).filter((step) => step !== 0);
      if (steps.length < FEWEST) continue;
      const isAhead = steps.reduce((total, step) => total + step, 0) > 0;
      const [ahead, behind] = isAhead ? [first, second] : [second, first];
      tests.push({ ahead, behind, p: signFlipP(steps) });
    }
  }
  const better = models.map(() => 0);
  const worse = models.map(() => 0);
  tests.sort((a, b) => a.p - b.p);
  for (const [index, { ahead, behind, p }] of tests.entries()) {
    if (p * (tests.length - index) > ALPHA) break;
    better[behind]! += 1;
    worse[ahead]! += 1;
  }
  return models.map((_, model) => [1 + better[model]!, models.length - worse[model]!]);
}

/** How much better the first does in each eval that both scored, in steps of equal size. */
function stepsBetween(first: readonly EvalTally[], second: ReadonlyMap<string, EvalTally>): number[] {
  const pairs: (readonly [EvalTally, EvalTally])[] = [];
  for (const one of first) {
    const other = second.get(one.evalPath);
    if (other && one.scored > 0 && other.scored > 0) pairs.push([one, other]);
  }
  let whole = 1;
  for (const { scored } of pairs.flat()) {
    if (whole <= STEPS) whole = (whole * scored) / commonDivisor(whole, scored);
  }
  const scale = whole <= STEPS ? whole : STEPS;
  return pairs.map(([one, other]) => nearest(scale * (one.passed / one.scored - other.passed / other.scored)));
}

/** The nearest whole number; of two the even one, so that turning the sign does nothing else. */
function nearest(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** Two-sided p that differences of so many steps add up like this, if each could have had the other sign. R. A. Fisher (1935). */
function signFlipP(steps: readonly number[]): number {
  const sizes = steps.map(Math.abs);
  const whole = sizes.reduce((total, size) => total + size, 0);
  const positive = steps.reduce((total, step) => total + Math.max(0, step), 0);
  let chance = new Float64Array(whole + 1);
  chance[0] = 1;
  for (const size of sizes) {
    const next = new Float64Array(whole + 1);
    for (let sum = 0; sum <= whole; sum++) next[sum] = (chance[sum]! + (sum < size ? 0 : chance[sum - size]!)) / 2;
    chance = next;
  }
  const tail = chance.subarray(Math.max(positive, whole - positive)).reduce((total, each) => total + each, 0);
  return Math.min(1, 2 * tail);
}
