/** How series are told apart: by colour, and by shape for those who do not see the colour. */
import { svgElement } from "./plot.ts";

export interface Look {
  colour: string;
  symbol: "circle" | "square" | "diamond" | "triangle" | "star";
}

const COLOURS = 8;
const SHAPES = {
  circle: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
  square: "M-3.5,-3.5h7v7h-7z",
  triangle: "M0,-4.5L4.2,3.2L-4.2,3.2z",
  diamond: "M0,-5L4,0L0,5L-4,0z",
  star: "M0,-5L1.4,-1.6L5,-1.5L2.1,0.8L3.1,4.3L0,2.2L-3.1,4.3L-2.1,0.8L-5,-1.5L-1.4,-1.6z",
} as const;
const SYMBOLS = Object.keys(SHAPES) as Look["symbol"][];

export function lookOf(series: number): Look {
  return { colour: `var(--series-${(series % COLOURS) + 1})`, symbol: SYMBOLS[series % SYMBOLS.length] ?? "circle" };
}

export function legend(names: string[]): HTMLElement {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const [at, name] of names.entries()) {
    const { colour, symbol } = lookOf(at);
    const swatch = svgElement("svg", { viewBox: "-9 -6 18 12", width: 18, height: 12, "aria-hidden": "true" });
    swatch.append(
      svgElement("path", { d: "M-9,0H9", stroke: colour, "stroke-width": 1.75 }),
      svgElement("path", { d: SHAPES[symbol], fill: colour }),
    );
    const item = document.createElement("li");
    item.append(swatch, name);
    list.append(item);
  }
  return list;
}
