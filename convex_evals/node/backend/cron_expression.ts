/** Cron expressions of five fields, in UTC: minute, hour, day of month, month, day of week. */

export interface CronExpression {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** When both day fields are restricted, a day matches if either does. */
  readonly eitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const FIELDS = {
  minutes: { name: "minute", min: 0, max: 59 },
  hours: { name: "hour", min: 0, max: 23 },
  daysOfMonth: { name: "day of month", min: 1, max: 31 },
  months: { name: "month", min: 1, max: 12, names: ["", ...MONTHS] },
  daysOfWeek: { name: "day of week", min: 0, max: 6, names: DAYS },
} as const satisfies Record<string, Field>;

/** Throws an `Error` that names the field at fault. */
export function parseCronExpression(text: string): CronExpression {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) throw new Error(`Invalid cron expression "${text}": expected 5 fields, got ${parts.length}`);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parts as [string, string, string, string, string];
  return {
    minutes: parseField(minute, FIELDS.minutes),
    hours: parseField(hour, FIELDS.hours),
    daysOfMonth: parseField(dayOfMonth, FIELDS.daysOfMonth),
    months: parseField(month, FIELDS.months),
    daysOfWeek: parseField(dayOfWeek, FIELDS.daysOfWeek),
    eitherDay: isRestricted(dayOfMonth) && isRestricted(dayOfWeek),
  };
}

function isRestricted(part: string): boolean {
  return !part.startsWith("*") && part !== "?";
}

function parseField(part: string, field: Field): ReadonlySet<number> {
  return new Set(part.split(",").flatMap((item) => parseRange(item, field)));
}

function parseRange(item: string, field: Field): number[] {
  const [range = "", stepText, ...rest] = item.split("/");
  const step = stepText === undefined ? 1 : Number(stepText);
  if (rest.length > 0 || !Number.isInteger(step) || step < 1) throw invalid(item, field);
  const [from, to] = bounds(range, stepText !== undefined, field);
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return values;
}

function bounds(range: string, hasStep: boolean, field: Field): [number, number] {
  if (range === "*" || range === "?") return [field.min, field.max];
  const [first = "", last, ...rest] = range.split("-");
  if (rest.length > 0) throw invalid(range, field);
  const from = parseValue(first, field);
  if (last === undefined) return [from, hasStep ? field.max : from];
  const to = parseValue(last, field);
  if (to < from) throw invalid(range, field);
  return [from, to];
}

function parseValue(text: string, field: Field): number {
  const named = text === "" ? -1 : (field.names?.indexOf(text.toUpperCase()) ?? -1);
  const value = named >= 0 ? named : /^\d+$/.test(text) ? Number(text) : NaN;
  if (!(value >= field.min && value <= field.max)) throw invalid(text, field);
  return value;
}

function invalid(text: string, field: Field): Error {
  return new Error(`Invalid cron expression: "${text}" is not a valid ${field.name}`);
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
// Every valid combination of day and month occurs within a leap-year cycle.
const HORIZON_DAYS = 366 * 8 + 2;

/** Unix milliseconds of the first match strictly after `afterMs`, or null if there is none. */
export function nextCronTime(expression: CronExpression, afterMs: number): number | null {
  const start = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  const firstDay = Math.floor(start / DAY_MS) * DAY_MS;
  for (let offset = 0; offset < HORIZON_DAYS; offset++) {
    const day = firstDay + offset * DAY_MS;
    if (!matchesDay(expression, new Date(day))) continue;
    const time = firstTimeOfDay(expression, day, start);
    if (time !== null) return time;
  }
  return null;
}

function matchesDay(expression: CronExpression, date: Date): boolean {
  if (!expression.months.has(date.getUTCMonth() + 1)) return false;
  const dayOfMonth = expression.daysOfMonth.has(date.getUTCDate());
  const dayOfWeek = expression.daysOfWeek.has(date.getUTCDay());
  return expression.eitherDay ? dayOfMonth || dayOfWeek : dayOfMonth && dayOfWeek;
}

function firstTimeOfDay(expression: CronExpression, dayMs: number, notBeforeMs: number): number | null {
  for (const hour of ascending(expression.hours)) {
    for (const minute of ascending(expression.minutes)) {
      const time = dayMs + (hour * 60 + minute) * MINUTE_MS;
      if (time >= notBeforeMs) return time;
    }
  }
  return null;
}

function ascending(values: ReadonlySet<number>): number[] {
  return [...values].sort((a, b) => a - b);
}
