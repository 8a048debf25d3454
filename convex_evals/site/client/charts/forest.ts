/** Differences with their intervals, a row each. */
import { axisX, dot, gridX, pointerY, ruleX, ruleY, tip } from "@observablehq/plot";
import { padded } from "./axes.ts";
import type { Forest, ForestRow, Frame } from "./data.ts";
import { isNumber } from "./data.ts";
import { interval, points, shorten } from "./format.ts";
import { CARD, LETTER, LINE, QUIET, TEXT, TIP, along, drawPlot, labelElement, raiseTips } from "./plot.ts";
import type { Svg } from "./plot.ts";

const BESIDE = 560;
const FIGURES = 158;
const WIDEST_LABELS = 0.42;

type Row = ForestRow & { at: number };

/** Where names and figures stand: beside the drawing, or above each row where that is too narrow. */
interface Layout {
  beside: boolean;
  row: number;
  left: number;
  right: number;
}

export function drawForest(data: Forest, frame: Frame): Element[] {
  const rows = (data.rows ?? []).filter((one) => isNumber(one.value)).map((one, at) => ({ ...one, at }));
  if (rows.length === 0) return [];
  const layout = layoutOf(rows, frame.width);
  const made = drawPlot(frame, {
    height: rows.length * layout.row + 58,
    marginLeft: layout.left,
    marginRight: layout.right,
    marginTop: 8,
    marginBottom: 42,
    x: { domain: domainOf(rows) },
    y: { type: "band", domain: rows.map((row) => row.at), axis: null },
    marks: marks(rows, axisLabel(data.x?.label ?? "difference", frame.width - layout.left - layout.right), layout),
  });
  made.append(...rows.flatMap((row) => texts(row, made, layout, frame.width)));
  raiseTips(made);
  return [made];
}

function layoutOf(rows: Row[], width: number): Layout {
  if (width < BESIDE) return { beside: false, row: 44, left: 14, right: 14 };
  const longest = Math.max(...rows.map((row) => [...row.label].length));
  const left = Math.min(longest * LETTER + 16, Math.floor(width * WIDEST_LABELS));
  return { beside: true, row: 26, left, right: FIGURES };
}

function axisLabel(label: string, width: number): string {
  const whole = `${label} (percentage points)`;
  return whole.length * LETTER > width ? "percentage points" : whole;
}

function domainOf(rows: Row[]): [number, number] {
  const values = rows.flatMap((row) => [row.value, row.low, row.high]).filter(isNumber);
  return padded(Math.min(0, ...values), Math.max(0, ...values), 0.05);
}

function marks(rows: Row[], label: string, { beside }: Layout) {
  const measured = rows.filter((row) => isNumber(row.low) && isNumber(row.high));
  const isSure = (row: Row): boolean => row.tone === "good" || row.tone === "bad";
  const colour = (row: Row): string => (isSure(row) ? `var(--${row.tone})` : TEXT);
  const dy = beside ? 0 : 9;
  return [
    gridX({ stroke: LINE, strokeOpacity: 1, tickSpacing: 70 }),
    axisX({
      label,
      tickFormat: points,
      color: QUIET,
      tickSize: 0,
      tickSpacing: 70,
      labelAnchor: "center",
      labelArrow: "none",
    }),
    ruleX([0], { stroke: TEXT, strokeWidth: 1.25 }),
    ruleY(measured, { y: "at", x1: "low", x2: "high", stroke: colour, strokeWidth: 2, marker: "tick", dy }),
    dot(rows, {
      x: "value",
      y: "at",
      r: 5,
      fill: (row: Row) => (isSure(row) ? colour(row) : CARD),
      stroke: colour,
      strokeWidth: 2,
      symbol: (row: Row) => (row.tone === "bad" ? "diamond" : "circle"),
      dy,
    }),
    tip(rows, pointerY({ x: "value", y: "at", title: words, ...TIP, dy })),
  ];
}

function words(row: Row): string {
  return `${row.label}\n${points(row.value)} points${interval(row.low, row.high, points)}`;
}

/** A name, cut to its place, and figures. */
function texts(row: Row, made: Svg, { beside, left, right }: Layout, width: number): Element[] {
  const top = along(made, "y")(row.at);
  const figures = `${points(row.value)}${interval(row.low, row.high, points)}`;
  if (!beside) {
    const most = Math.floor((width - [...figures].length * LETTER - 16) / LETTER);
    return [
      labelElement(shorten(row.label, most), 0, top + 14, "start"),
      labelElement(figures, width, top + 14, "end"),
    ];
  }
  const middle = top + Number(made.scale("y")?.bandwidth ?? 0) / 2 + 4;
  return [
    labelElement(shorten(row.label, Math.max(4, Math.floor((left - 14) / LETTER))), left - 10, middle, "end"),
    labelElement(figures, width - right + 12, middle, "start"),
  ];
}
