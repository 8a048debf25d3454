/** Scales and ticks that Plot does not choose as we would. */
import { axisY, gridY } from "@observablehq/plot";
import type { Markish } from "@observablehq/plot";
import { LINE, QUIET } from "./plot.ts";

const WIDE = 20;

export interface Scale {
  type: "linear" | "log" | "symlog";
  constant?: number;
  domain: [number, number];
}

/** Logarithmic where values are far apart. What costs nothing has its place on it, too. */
export function scaleOf(values: number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  const hasOthers = positive.length < values.length;
  if (positive.length === 0 || most / least <= WIDE || Math.min(...values) < 0) {
    const [low, high] = padded(Math.min(...values), Math.max(...values), 0.06);
    return { type: "linear", domain: [Math.min(...values) >= 0 ? Math.max(low, 0) : low, high] };
  }
  const domain: [number, number] = [least / 1.4, most * 1.4];
  return hasOthers ? { type: "symlog", constant: least, domain: [0, domain[1]] } : { type: "log", domain };
}

/** d3's own ticks of a logarithmic scale have no text where there are many. */
export function ticksOf({ type, constant, domain: [low, high] }: Scale, most: number): number[] {
  if (type === "linear") return niceValues(low, high, most);
  const round = roundValues(constant === undefined ? low : constant / 1.4, high, most);
  return type === "log" ? round : [0, ...round];
}

function niceValues(low: number, high: number, most: number): number[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((one) => one * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  // Products of whole numbers, as sums of steps drift.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

/** 1, 2, 5, 10, ... between two values, or only powers of ten where that would be too many. */
function roundValues(low: number, high: number, most: number): number[] {
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      found.push(...steps.map((step) => Number(`${step}e${power}`)).filter((value) => value >= low && value <= high));
    }
    if (found.length <= most || steps.length === 1) return found;
  }
  return [];
}

/** Of figures that stand above each other: shares, unless they have a unit. */
export function domainOf(values: number[], unit: string | undefined): [number, number] {
  if (unit !== undefined) return scaleOf(values).domain;
  const [low, high] = padded(Math.min(...values), Math.max(...values), 0.08);
  return [Math.max(low, 0), Math.min(high, 1)];
}

export function valueAxis(label: string | undefined, write: (value: number) => string): Markish[] {
  return [
    gridY({ stroke: LINE, strokeOpacity: 1, tickSpacing: 48 }),
    axisY({ label: label ?? null, tickFormat: write, color: QUIET, tickSize: 0, tickSpacing: 48 }),
  ];
}

export function padded(low: number, high: number, share: number): [number, number] {
  const room = high > low ? (high - low) * share : Math.max(Math.abs(high), 0.1) * share;
  return [low - room, high + room];
}
