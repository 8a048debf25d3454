/** What all drawings have in common: how Plot is called, and what is made of its SVG. */
import { plot } from "@observablehq/plot";
import type { PlotOptions } from "@observablehq/plot";
import type { Frame } from "./data.ts";

export type Svg = (SVGSVGElement | HTMLElement) & ReturnType<typeof plot>;

const XLINK = "http://www.w3.org/1999/xlink";

export const FONT_SIZE = 12;
/** A little more than a letter is wide, so that a guess is never too small for usual names. */
export const LETTER = 6.6;

export const QUIET = "var(--quiet)";
export const TEXT = "var(--text)";
export const CARD = "var(--card)";
export const LINE = "var(--line)";
export const TIP = { fill: CARD, stroke: "var(--edge)", fontSize: FONT_SIZE } as const;

export function drawPlot(frame: Frame, options: PlotOptions): Svg {
  const made = plot({ className: "plot", width: frame.width, ariaLabel: frame.label, ...options });
  // The policy of these pages lets no style element in; pages.css has what is in it.
  for (const style of made.querySelectorAll("style")) style.remove();
  // Plot says of each group which mark it is: a name that a group without a role may not have.
  for (const group of made.querySelectorAll("g[aria-label]")) {
    group.setAttribute("data-mark", group.getAttribute("aria-label") ?? "");
    group.removeAttribute("aria-label");
  }
  nameLinks(made);
  // An image has no parts that one can go to.
  made.setAttribute("role", made.querySelector("a") ? "group" : "img");
  return made;
}

/** Plot names the shape inside of a link; what is read out is the link. Focus shows the tip, as the pointer does. */
function nameLinks(made: Svg): void {
  for (const link of made.querySelectorAll("a")) {
    const shape = link.firstElementChild;
    link.setAttribute("aria-label", shape?.getAttribute("aria-label") ?? "");
    shape?.removeAttribute("aria-label");
    // The old attribute would be found by the name of the new one.
    const href = link.getAttributeNS(XLINK, "href") ?? "";
    link.removeAttributeNS(XLINK, "href");
    link.setAttribute("href", href);
    link.addEventListener("focus", () => {
      const { left, top, width, height } = link.getBoundingClientRect();
      point(made, "pointermove", left + width / 2, top + height / 2);
    });
    link.addEventListener("blur", () => point(made, "pointerleave", 0, 0));
  }
}

function point(made: Svg, type: string, clientX: number, clientY: number): void {
  made.dispatchEvent(new PointerEvent(type, { clientX, clientY, pointerType: "mouse" }));
}

export function svgElement<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, string | number>,
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** A label that is read above lines and dots. */
export function labelElement(text: string, x: number, y: number, anchor: string): SVGTextElement {
  const made = svgElement("text", {
    x,
    y,
    "text-anchor": anchor,
    fill: TEXT,
    stroke: CARD,
    "stroke-width": 3,
    "paint-order": "stroke",
    "stroke-linejoin": "round",
    "pointer-events": "none",
    "aria-hidden": "true",
  });
  made.textContent = text;
  return made;
}

/** Tips stand above what is added to a drawing after Plot. */
export function raiseTips(made: Svg): void {
  const tips = made.querySelector("[data-mark=tip]");
  if (tips) made.append(tips);
}

/** Applies a scale of a plot. */
export function along(made: Svg, scale: "x" | "y"): (value: number) => number {
  const found = made.scale(scale);
  return (value) => Number(found?.apply(value));
}
