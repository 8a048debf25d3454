/** What a figure's JSON says. It was written by our own server, from names and figures that are hostile. */

export interface Axis {
  label?: string;
  unit?: string;
}

export interface ScatterPoint {
  label: string;
  href?: string | null;
  x: number;
  y: number;
  low?: number | null;
  high?: number | null;
  frontier?: boolean;
}

export interface Scatter {
  x?: Axis;
  y?: Axis;
  points?: ScatterPoint[];
}

export interface HistoryPoint {
  x: string;
  n?: number;
  y: number;
  low?: number | null;
  high?: number | null;
  label?: string;
  href?: string | null;
}

export interface Series {
  name: string;
  points: HistoryPoint[];
}

export interface History {
  y?: Axis;
  series?: Series[];
  marks?: { x: string; label: string }[];
}

export interface ForestRow {
  label: string;
  value: number;
  low?: number | null;
  high?: number | null;
  tone?: "good" | "bad" | "unsure";
}

export interface Forest {
  x?: Axis;
  rows?: ForestRow[];
}

/** What every drawing gets. */
export interface Frame {
  width: number;
  label: string;
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** A link within the site; anything else, such as `javascript:`, is none. */
export function linkOf(href: unknown): string | null {
  if (typeof href !== "string" || href === "") return null;
  try {
    const there = new URL(href, location.href);
    return there.protocol === location.protocol && there.host === location.host ? href : null;
  } catch {
    return null;
  }
}
