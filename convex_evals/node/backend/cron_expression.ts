/**
 * Cron expressions of five fields, in UTC, by `croner`: minute, hour, day of month, month, day of week.
 *
 * Convex parses them with its fork of the crate saffron, which refuses much that `croner` accepts: `?`, nicknames, 7 for
 * Sunday, L in lists, steps as long as their field (get-convex/saffron saffron/src/parse.rs). Where both accept an
 * expression, they mean the same times, but for days like FRI-SUN: saffron adds the day before.
 */

import { Cron } from "croner";

interface Field {
  readonly name: string;
  /** What saffron accepts, but for the bounds of values, which `croner` checks. */
  readonly syntax: RegExp;
  readonly longestStep: number;
}

// Names have any case, L and W do not. `alone` is what is no part of a list.
function syntaxOf(value: string, ...alone: string[]): RegExp {
  const item = `(\\*/\\d+|${value}(-${value})?(/\\d+)?)`;
  return new RegExp(`^(${["\\*", ...alone, `${item}(,${item})*`].join("|")})$`);
}

const NAME = "[A-Za-z]{3}";
const DAY = `(0*[0-6]|${NAME})`; // 7 is no Sunday

const FIELDS: readonly Field[] = [
  { name: "minute", syntax: syntaxOf("\\d+"), longestStep: 59 },
  { name: "hour", syntax: syntaxOf("\\d+"), longestStep: 23 },
  { name: "day of month", syntax: syntaxOf("\\d+", "LW?", "\\d+W"), longestStep: 30 },
  { name: "month", syntax: syntaxOf(`(\\d+|${NAME})`), longestStep: 11 },
  { name: "day of week", syntax: syntaxOf(DAY, "L", `${DAY}(L|#\\d)`), longestStep: 6 },
];

/** Throws an `Error` that names the field at fault. */
export function parseCronExpression(text: string): Cron {
  const parts = text.split(/[ \t]+/);
  if (parts.length !== FIELDS.length) {
    throw new Error(`Invalid cron expression "${text}": expected 5 fields, got ${parts.length}`);
  }
  for (const [at, { name, syntax, longestStep }] of FIELDS.entries()) {
    const steps = [...parts[at]!.matchAll(/\/(\d+)/g)].map(([, step]) => Number(step));
    if (!syntax.test(parts[at]!) || steps.some((step) => step > longestStep)) throw invalid(parts[at]!, name);
  }
  return compile(parts) ?? refuseField(parts);
}

/** Throws for the field whose values are out of bounds. */
function refuseField(parts: readonly string[]): never {
  const at = parts.findIndex((part, place) => !compile(FIELDS.map((_, index) => (index === place ? part : "*"))));
  throw at === -1 ? new Error(`Invalid cron expression "${parts.join(" ")}"`) : invalid(parts[at]!, FIELDS[at]!.name);
}

function invalid(part: string, field: string): Error {
  return new Error(`Invalid cron expression: "${part}" is not a valid ${field}`);
}

// Takes a quarter of a millisecond.
function compile(parts: readonly string[]): Cron | null {
  // L alone is the last day of the week.
  const pattern = parts.join(" ").replace(/ L$/, " 6");
  // With `sloppyRanges`, 5/15 is accepted.
  try {
    return new Cron(pattern, { mode: "5-part", utcOffset: 0, sloppyRanges: true });
  } catch {
    return null;
  }
}

/** Unix milliseconds of the first match strictly after `afterMs`, or null if there is none. */
export function nextCronTime(expression: Cron, afterMs: number): number | null {
  return expression.nextRun(new Date(afterMs))?.getTime() ?? null;
}
