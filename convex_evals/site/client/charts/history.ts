/** Figures over time, a line for each series, and what was changed when. */
import { areaY, axisX, dot, line, pointer, ruleX, tip } from "@observablehq/plot";
import { domainOf, valueAxis } from "./axes.ts";
import type { Frame, History, HistoryPoint } from "./data.ts";
import { isNumber, linkOf } from "./data.ts";
import { formatter, interval, shorten } from "./format.ts";
import { legend, lookOf } from "./series.ts";
import type { Look } from "./series.ts";
import { CARD, FONT_SIZE, LETTER, QUIET, TIP, along, drawPlot, labelElement, raiseTips } from "./plot.ts";

const DAY = 86_400_000;
const MOST_BANDS = 3;
const SPREAD = 9;
const LABEL_LINES = 2;

interface Placed extends HistoryPoint {
  time: number;
  series: string;
  look: Look;
}

export function drawHistory(data: History, frame: Frame): Element[] {
  const series = data.series ?? [];
  const placed = series.map((one, at) => place(one.points ?? [], one.name, lookOf(at)));
  const all = placed.flat();
  if (all.length === 0) return [];
  const changes = (data.marks ?? [])
    .map((mark) => ({ ...mark, time: Date.parse(mark.x) }))
    .filter((mark) => isNumber(mark.time));
  const [first, last] = timesOf([...all, ...changes]);
  spread(placed, (last - first) / Math.max(frame.width - 70, 1));
  const write = formatter(data.y?.unit);
  const values = all.flatMap((one) => [one.y, one.low, one.high]).filter(isNumber);
  const made = drawPlot(frame, {
    height: Math.min(380, Math.max(260, Math.round(frame.width * 0.42))),
    marginLeft: 48,
    marginRight: 20,
    marginTop: changes.length > 0 ? 26 + LABEL_LINES * (FONT_SIZE + 3) : 26,
    marginBottom: 34,
    x: { type: "utc", domain: timesOf([...all, ...changes]).map((time) => new Date(time)) },
    y: { domain: domainOf(values, data.y?.unit) },
    marks: [
      ...valueAxis(data.y?.label, write),
      axisX({ color: QUIET, tickSize: 3, tickSpacing: 90, label: null }),
      ruleX(changes, { x: "time", stroke: QUIET, strokeDasharray: "4,3" }),
      ...placed.flatMap((points) => marksOf(points, series.length <= MOST_BANDS, write)),
      tip(all, pointer({ x: "time", y: "y", title: (one: Placed) => words(one, write), ...TIP })),
    ],
  });
  made.append(...changeLabels(changes, along(made, "x"), frame.width));
  raiseTips(made);
  return series.length > 1 ? [legend(series.map((one) => one.name)), made] : [made];
}

function place(points: HistoryPoint[], series: string, look: Look): Placed[] {
  return points
    .map((one) => ({ ...one, time: Date.parse(one.x), series, look }))
    .filter((one) => isNumber(one.time) && isNumber(one.y))
    .sort((a, b) => a.time - b.time || (a.n ?? 0) - (b.n ?? 0));
}

function timesOf(at: { time: number }[]): [number, number] {
  const times = at.map((one) => one.time);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const room = Math.max((last - first) * 0.03, DAY / 2);
  return [first - room, last + room];
}

/** What is of the same day stands side by side, and still before the next day. */
function spread(placed: Placed[][], perPixel: number): void {
  const days = [...new Set(placed.flat().map((one) => one.time))].sort((a, b) => a - b);
  const moved = placed.flat().map((one) => {
    const largest = Math.max(
      ...placed
        .flat()
        .filter((other) => other.time === one.time)
        .map((other) => other.n ?? 0),
    );
    const free = (days[days.indexOf(one.time) + 1] ?? one.time + DAY) - one.time;
    const step = Math.min(free / (largest + 1), Math.max(SPREAD * perPixel, DAY / 24));
    return [one, one.time + (one.n ?? 0) * step] as const;
  });
  for (const [one, time] of moved) one.time = time;
}

function marksOf(points: Placed[], hasBand: boolean, write: (value: number) => string) {
  const { colour, symbol } = points[0]?.look ?? lookOf(0);
  const measured = points.filter((one) => isNumber(one.low) && isNumber(one.high));
  const at = { x: "time", y1: "low", y2: "high" };
  return [
    hasBand && measured.length > 1
      ? areaY(measured, { ...at, fill: colour, fillOpacity: 0.13 })
      : ruleX(measured, { ...at, stroke: colour, strokeOpacity: 0.55 }),
    line(points, { x: "time", y: "y", stroke: colour, strokeWidth: 1.75 }),
    dot(points, {
      x: "time",
      y: "y",
      r: 4,
      symbol,
      fill: colour,
      stroke: CARD,
      strokeWidth: 1,
      href: (one: Placed) => linkOf(one.href),
      ariaLabel: (one: Placed) => words(one, write).replaceAll("\n", ", "),
    }),
  ];
}

function words(one: Placed, write: (value: number) => string): string {
  const label = one.label && one.label !== one.series ? `\n${one.label}` : "";
  return `${one.series}${label}\n${one.x}: ${write(one.y)}${interval(one.low, one.high, write)}`;
}

/** Above the frame, in a few lines; where there is no room, the table says it. */
function changeLabels(
  changes: { time: number; label: string }[],
  x: (value: number) => number,
  width: number,
): Element[] {
  const ends: number[] = Array<number>(LABEL_LINES).fill(0);
  const made: Element[] = [];
  for (const { time, label } of [...changes].sort((a, b) => a.time - b.time)) {
    const text = shorten(label, 28);
    const wide = [...text].length * LETTER;
    const left = Math.min(Math.max(x(time) - wide / 2, 0), width - wide);
    const row = ends.findIndex((end) => left >= end);
    if (row < 0) continue;
    ends[row] = left + wide + 8;
    made.push(labelElement(text, left + wide / 2, 34 + row * (FONT_SIZE + 3), "middle"));
  }
  return made;
}
