/** Two figures of each model, such as what it costs and how much it gets right; the best for their price are joined. */
import { axisX, dot, gridX, line, pointer, ruleX, tip } from "@observablehq/plot";
import { domainOf, scaleOf, ticksOf, valueAxis } from "./axes.ts";
import type { Frame, Scatter, ScatterPoint } from "./data.ts";
import { isNumber, linkOf } from "./data.ts";
import { formatter, interval } from "./format.ts";
import { placeLabels } from "./labels.ts";
import { CARD, LINE, QUIET, TEXT, TIP, along, drawPlot, raiseTips } from "./plot.ts";

const TALLEST = 460;
const LEFT = 48;

export function drawScatter(data: Scatter, frame: Frame): Element[] {
  // Last, and so on top, is what stands out.
  const points = (data.points ?? [])
    .filter((one) => isNumber(one.x) && isNumber(one.y))
    .sort((a, b) => Number(a.frontier ?? false) - Number(b.frontier ?? false));
  if (points.length === 0) return [];
  const height = Math.min(TALLEST, Math.max(300, Math.round(frame.width * 0.5)));
  const [writeX, writeY] = [formatter(data.x?.unit ?? "count"), formatter(data.y?.unit)];
  const most = Math.max(3, Math.floor(frame.width / 80));
  const x = scaleOf(points.map((one) => one.x));
  const ticks = ticksOf(x, most);
  const values = points.flatMap((one) => [one.y, one.low, one.high]).filter(isNumber);
  const words = (one: ScatterPoint): string =>
    `${one.label}\n${data.y?.label ?? "y"}: ${writeY(one.y)}${interval(one.low, one.high, writeY)}\n` +
    `${data.x?.label ?? "x"}: ${writeX(one.x)}`;
  const made = drawPlot(frame, {
    height,
    marginLeft: LEFT,
    marginRight: 20,
    marginTop: 26,
    marginBottom: 40,
    x: { type: x.type, domain: x.domain, ...(x.constant === undefined ? {} : { constant: x.constant }) },
    y: { domain: domainOf(values, data.y?.unit) },
    marks: [
      gridX(ticks, { stroke: LINE, strokeOpacity: 1 }),
      ...valueAxis(data.y?.label, writeY),
      axisX(ticks, { text: writeX, label: data.x?.label ?? null, color: QUIET, tickSize: 0 }),
      ...marks(points, words),
    ],
  });
  const [px, py] = [along(made, "x"), along(made, "y")];
  const labels = points.map((one) => ({ text: one.label, x: px(one.x), y: py(one.y), always: one.frontier ?? false }));
  made.append(...placeLabels(labels.reverse(), LEFT, frame.width, height - 40));
  raiseTips(made);
  return [made];
}

function marks(points: ScatterPoint[], words: (one: ScatterPoint) => string) {
  const frontier = points.filter((one) => one.frontier).sort((a, b) => a.x - b.x || a.y - b.y);
  const measured = points.filter((one) => isNumber(one.low) && isNumber(one.high));
  return [
    line(frontier, {
      x: "x",
      y: "y",
      curve: "step-after",
      stroke: "var(--accent)",
      strokeWidth: 1.5,
      strokeDasharray: "5,3",
    }),
    ruleX(measured, { x: "x", y1: "low", y2: "high", stroke: TEXT, strokeOpacity: 0.4 }),
    dot(points, {
      x: "x",
      y: "y",
      r: 5,
      fill: (one: ScatterPoint) => (one.frontier ? "var(--accent)" : CARD),
      stroke: (one: ScatterPoint) => (one.frontier ? CARD : "var(--edge)"),
      strokeWidth: 2,
      href: (one: ScatterPoint) => linkOf(one.href),
      ariaLabel: (one: ScatterPoint) => words(one).replaceAll("\n", ", "),
    }),
    tip(points, pointer({ x: "x", y: "y", title: words, ...TIP })),
  ];
}
