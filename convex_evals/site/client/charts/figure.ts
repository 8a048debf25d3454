/** From a figure's JSON to a drawing that keeps up with the figure's width. */
import { drawForest } from "./forest.ts";
import { drawHistory } from "./history.ts";
import { drawScatter } from "./scatter.ts";
import type { Frame } from "./data.ts";

type Drawing = (frame: Frame) => Element[];

const NARROWEST = 240;
const drawn = new WeakSet<Element>();

export function drawFigures(): void {
  for (const figure of document.querySelectorAll<HTMLElement>("figure.chart[data-chart]")) {
    if (drawn.has(figure)) continue;
    drawn.add(figure);
    const drawing = drawingOf(figure);
    if (drawing) keepDrawn(figure, drawing);
  }
}

function drawingOf(figure: HTMLElement): Drawing | null {
  const json = figure.querySelector("script[type='application/json']")?.textContent ?? "";
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    return null; // The table below says it all.
  }
  if (typeof data !== "object" || data === null) return null;
  switch (figure.dataset.chart) {
    case "scatter":
      return (frame) => drawScatter(data, frame);
    case "history":
      return (frame) => drawHistory(data, frame);
    case "forest":
      return (frame) => drawForest(data, frame);
    default:
      return null;
  }
}

function keepDrawn(figure: HTMLElement, drawing: Drawing): void {
  const place = document.createElement("div");
  place.className = "drawing";
  figure.insertBefore(place, figure.querySelector(":scope > details"));
  const label = figure.querySelector("figcaption")?.textContent.trim() || "chart";
  let width = 0;
  const draw = (): void => {
    const now = Math.floor(place.getBoundingClientRect().width);
    if (now === width || now === 0) return;
    width = now;
    const focused = [...place.querySelectorAll("a")].indexOf(document.activeElement as SVGAElement & HTMLAnchorElement);
    place.replaceChildren(...drawing({ width: Math.max(now, NARROWEST), label }));
    if (focused >= 0) place.querySelectorAll<HTMLElement>("a")[focused]?.focus({ preventScroll: true });
  };
  draw();
  new ResizeObserver(draw).observe(place);
}
