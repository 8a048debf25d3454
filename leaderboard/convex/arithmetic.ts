/** Rates, their spread, and their intervals. */

export interface Interval {
  low: number;
  high: number;
}

// The quantile of the normal distribution for 95 %.
const Z = 1.959963984540054;

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

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The population's standard deviation, which the leaderboard's error bars are. */
export function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}
