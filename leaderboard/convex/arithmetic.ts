/** Rates, their spread, and their intervals. */

export interface Interval {
  low: number;
  high: number;
}

/** Trials, of one eval say. */
export interface Tally {
  readonly passed: number;
  readonly scored: number;
}

// The quantile of the normal distribution for 95 %, and of Student's by degrees of freedom, from 1.
const Z = 1.959963984540054;
const STUDENT = [
  12.7062047362, 4.3026527297, 3.1824463053, 2.7764451052, 2.5705818356, 2.4469118511, 2.3646242516, 2.3060041352,
  2.2621571628, 2.228138852, 2.2009851601, 2.1788128297, 2.1603686565, 2.1447866879, 2.1314495456, 2.1199052992,
  2.1098155778, 2.1009220402, 2.0930240544, 2.0859634473,
];

/**
 * The score interval of 95 % for `passed` of `scored` trials. E. B. Wilson, "Probable inference, the law of succession, and
 * statistical inference", Journal of the American Statistical Association 22 (1927).
 */
export function wilson(passed: number, scored: number): Interval {
  if (scored === 0) return { low: 0, high: 1 };
  const centre = (passed + (Z * Z) / 2) / (scored + Z * Z);
  const half = (Z / (scored + Z * Z)) * Math.sqrt((passed * (scored - passed)) / scored + (Z * Z) / 4);
  return { low: passed === 0 ? 0 : centre - half, high: passed === scored ? 1 : centre + half };
}

/**
 * The interval of 95 % of the rate of all these trials, a tally for each eval, where the evals are drawn from their kind.
 * Trials of one eval are alike, so they are worth as many as vary as much as the evals do, and one for each eval at least.
 * E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated
 * from survey data", Survey Methodology 24 (1998); with Wilson's interval as in N. Dean and M. Pagano, "Evaluating confidence
 * interval methods for binomial proportions in clustered surveys", Journal of Survey Statistics and Methodology 3 (2015).
 */
export function overEvals(tallies: readonly Tally[]): Interval {
  const evals = tallies.filter((tally) => tally.scored > 0);
  const n = evals.length;
  const passed = sum(evals.map((tally) => tally.passed));
  const scored = sum(evals.map((tally) => tally.scored));
  if (n === 0 || n === scored) return wilson(passed, scored);
  let worth = n;
  if (n > 1 && passed > 0 && passed < scored) {
    const squares = sum(evals.map((tally) => (tally.passed * scored - tally.scored * passed) ** 2));
    const alike = squares === 0 ? Infinity : (passed * (scored - passed) * scored ** 2 * (n - 1)) / (n * squares);
    worth = Math.max(worth, Math.min(alike, scored) * (Z / student(n - 1)) ** 2);
  }
  return wilson((passed / scored) * worth, worth);
}

/**
 * The quantile of Student's t distribution for 95 %. Beyond those that are listed by an expansion: R. A. Fisher and E. A.
 * Cornish, "The percentile points of distributions having known cumulants", Technometrics 2 (1960).
 */
function student(freedom: number): number {
  const listed = STUDENT[freedom - 1];
  if (listed !== undefined) return listed;
  const terms = [
    Z,
    (Z ** 3 + Z) / 4,
    (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
    (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
    (79 * Z ** 9 + 776 * Z ** 7 + 1482 * Z ** 5 - 1920 * Z ** 3 - 945 * Z) / 92160,
  ];
  return sum(terms.map((term, power) => term / freedom ** power));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** The population's standard deviation, which the leaderboard's error bars are. */
export function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}
