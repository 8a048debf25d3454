/**
 * Cron expressions of five fields, in UTC: minute, hour, day of month, month, day of week.
 *
 * Convex parses them with its fork of the crate saffron (get-convex/saffron saffron/src/parse.rs, lib.rs), which differs
 * from other parsers: it refuses `?`, nicknames, 7 for Sunday, L in lists and steps as long as their field, and a range
 * that wraps around begins a value early (FRI-MON is THU-MON). Lists are therefore turned into their values here, by
 * saffron's rules; `croner` finds the times.
 *
 * `22-2` in the hours: 22 > 2, so 21,22,23,0,1,2. `FRI-SUN/2`: FRI, then SUN, which as the first value of its field is
 * dropped: FRI. `5,*` in the minutes: a star after a comma is the first value, 0,5.
 */

import { Cron } from "croner";

interface Field {
  /** Values are counted from here. */
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
  /** What is no part of a list, and means the same to `croner`. */
  readonly alone: RegExp;
  /** Whether saffron counts the field from zero when it walks a range in steps, although its first value is 1. */
  readonly dropsFirst: boolean;
}

export interface CronExpression {
  /** Unix milliseconds of the first match strictly after `afterMs`, or null if there is none. */
  next(afterMs: number): number | null;
}

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const NEVER = /(?!)/;

const FIELDS: readonly [Field, Field, Field, Field, Field] = [
  { min: 0, max: 59, names: [], alone: NEVER, dropsFirst: false },
  { min: 0, max: 23, names: [], alone: NEVER, dropsFirst: false },
  { min: 1, max: 31, names: [], alone: /^(LW?|([1-9]|[12]\d|3[01])W)$/, dropsFirst: true },
  { min: 1, max: 12, names: MONTHS, alone: NEVER, dropsFirst: true },
  { min: 0, max: 6, names: DAYS, alone: /^[0-6](L|#[1-5])$/, dropsFirst: true },
];

const BEFORE_LAST = /^L-0*([1-9]|[12]\d|30)(W?)$/;
const ITEM = /^(?:(\*)|([a-z]+|\d+))(?:-([a-z]+|\d+))?(?:\/(\d+))?$/i;
const DAY_MS = 86_400_000;
const SATURDAY = 6;
/** A leap day recurs within eight years. */
const MOST_MONTHS = 100;

/** Throws an `Error` with Convex's words where `text` is none. */
export function parseCronExpression(text: string): CronExpression {
  const parts = text.split(/[ \t]+/);
  if (parts.length !== FIELDS.length) throw invalid();
  const [minute, hour, day, month, weekday] = parts as [string, string, string, string, string];
  const [ofMinute, ofHour, ofDay, ofMonth, ofWeekday] = FIELDS;
  const time = `${converted(minute, ofMinute)} ${converted(hour, ofHour)}`;
  const months = converted(month, ofMonth);
  const weekdays = weekday === "L" ? String(SATURDAY) : converted(weekday, ofWeekday);
  const beforeLast = BEFORE_LAST.exec(day);
  if (!beforeLast) return { next: scheduled(`${time} ${converted(day, ofDay)} ${months} ${weekdays}`) };
  const byDay = scheduled(`${time} * ${months} *`);
  const fromEnd = (afterMs: number): number | null =>
    onTheDay(byDay, Number(beforeLast[1]), beforeLast[2] === "W", afterMs);
  // As with every other pair of days, either may match.
  const byWeekday = weekdays === "*" ? () => null : scheduled(`${time} * ${months} ${weekdays}`);
  return { next: (afterMs) => earlier(fromEnd(afterMs), byWeekday(afterMs)) };
}

function invalid(): Error {
  return new Error("Failed to parse cron expression");
}

function scheduled(pattern: string): CronExpression["next"] {
  const cron = new Cron(pattern, { mode: "5-part", utcOffset: 0 });
  return (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** A field as `croner` reads it. */
function converted(part: string, field: Field): string {
  const plain = part
    .replace(/^0+(?=\d)/, "")
    .replace(/#0+/, "#")
    .replace(/^[a-z]{3}(?=L|#)/i, (name) => String(valueOf(name, field)));
  if (plain === "*" || field.alone.test(plain)) return plain;
  const values = part.split(",").flatMap((item, at) => valuesOf(item, field, at === 0));
  return [...new Set(values)].sort((a, b) => a - b).join(",");
}

function valuesOf(item: string, field: Field, isFirst: boolean): number[] {
  const found = ITEM.exec(item);
  if (!found) throw invalid();
  const [, star, first, last, stepText] = found;
  // A star that begins a list stands for the whole field, and only with a step; a later one for the first value.
  if (star !== undefined && isFirst && (last !== undefined || stepText === undefined)) throw invalid();
  const { min, max, dropsFirst } = field;
  const start = star === undefined ? valueOf(first!, field) : min;
  const step = stepText === undefined ? null : Number(stepText);
  if (step !== null && (step < 1 || step > max - min)) throw invalid();
  if (last === undefined) return step === null ? [start] : walk(start, max, step);
  const end = valueOf(last, field);
  if (start === end) return [start];
  if (start < end) return walk(start, end, step ?? 1);
  if (step === null || step === 1) return [...walk(start - 1, max, 1), ...walk(min, end, 1)];
  const passed = [...walk(start, max, 1), ...walk(min, end, 1)].filter((_, at) => at % step === 0);
  return passed.filter((value) => !(dropsFirst && value === min));
}

function walk(start: number, end: number, step: number): number[] {
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, at) => start + at * step);
}

function valueOf(text: string, { min, max, names }: Field): number {
  const named = names.indexOf(text.toLowerCase()); // names have any case, L and W do not
  const value = named === -1 ? (/^\d+$/.test(text) ? Number(text) : NaN) : named + min;
  if (!(value >= min && value <= max)) throw invalid();
  return value;
}

/** The next of the times of `next` on the day that comes `days` before the last of its month. */
function onTheDay(next: CronExpression["next"], days: number, isWeekday: boolean, afterMs: number): number | null {
  let from = afterMs;
  for (let month = 0; month < MOST_MONTHS; month++) {
    const time = next(from);
    if (time === null) return null;
    const date = new Date(time);
    const firstMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    const day = length - days;
    if (day >= 1) {
      const wanted = firstMs + ((isWeekday ? nearestWeekday(firstMs, day) : day) - 1) * DAY_MS;
      const onDay = next(Math.max(from, wanted - 1));
      if (onDay !== null && onDay < wanted + DAY_MS) return onDay;
    }
    from = Math.max(from, firstMs + length * DAY_MS - 1);
  }
  return null;
}

function nearestWeekday(firstMs: number, day: number): number {
  const weekday = new Date(firstMs + (day - 1) * DAY_MS).getUTCDay();
  if (weekday === SATURDAY) return day === 1 ? 3 : day - 1;
  return weekday === 0 ? day + 1 : day;
}
