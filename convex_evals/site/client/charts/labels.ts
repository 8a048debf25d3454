/** Labels beside dots, none over another: the first ones first. */
import { FONT_SIZE, LETTER, QUIET, labelElement, svgElement } from "./plot.ts";
import { shorten } from "./format.ts";

export interface Labelled {
  text: string;
  x: number;
  y: number;
  /** Whether it stands even where there is no room. */
  always: boolean;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const MOST_LETTERS = 30;
/** Labels that are further away than this have a line to their dot. */
const NEAR = 24;
const STEP = 14;
const MOST_STEPS = 7;
const GAP = 8;
const DOT = 6;

interface Candidate {
  x: number;
  y: number;
  anchor: string;
  box: Box;
}

/** Between `left` and `right`, and above `height`. */
export function placeLabels(wanted: Labelled[], left: number, right: number, height: number): SVGElement[] {
  const dots = wanted.map(({ x, y }) => ({ left: x - DOT, top: y - DOT, right: x + DOT, bottom: y + DOT }));
  const taken: Box[] = [];
  const made: SVGElement[] = [];
  for (const one of [...wanted].sort((a, b) => Number(b.always) - Number(a.always))) {
    const text = shorten(one.text, MOST_LETTERS);
    const options = candidates(one, [...text].length * LETTER).filter(({ box }) => isInside(box, left, right, height));
    const cost = ({ y, box }: Candidate): number =>
      3 * overlaps(box, taken) + overlaps(box, dots) + Math.abs(y - one.y) / 1000;
    const best = options.reduce<Candidate | null>((a, b) => (a && cost(a) <= cost(b) ? a : b), null);
    if (!best || (cost(best) >= NEAR / 1000 && !one.always)) continue;
    taken.push(best.box);
    if (Math.abs(best.y - one.y) > NEAR) made.push(leader(one, best));
    made.push(labelElement(text, best.x, best.y, best.anchor));
  }
  return made;
}

function candidates({ x, y }: Labelled, wide: number): Candidate[] {
  const at = (left: number, base: number): Box => ({
    left,
    top: base - FONT_SIZE,
    right: left + wide,
    bottom: base + 3,
  });
  const found: Candidate[] = [];
  const around = (base: number): void => {
    found.push({ x: x + GAP, y: base, anchor: "start", box: at(x + GAP, base) });
    found.push({ x: x - GAP, y: base, anchor: "end", box: at(x - GAP - wide, base) });
    if (base !== y + 4) found.push({ x, y: base, anchor: "middle", box: at(x - wide / 2, base) });
  };
  around(y + 4);
  for (let step = 0; step < MOST_STEPS; step++) {
    around(y - 9 - step * STEP);
    around(y + 19 + step * STEP);
  }
  return found;
}

function leader(from: Labelled, to: Candidate): SVGElement {
  const y2 = to.y < from.y ? to.y + 3 : to.y - FONT_SIZE;
  return svgElement("line", { x1: from.x, y1: from.y, x2: to.x, y2, stroke: QUIET, "stroke-width": 0.75 });
}

function isInside(box: Box, left: number, right: number, height: number): boolean {
  return box.left >= left && box.right <= right && box.top >= 0 && box.bottom <= height;
}

function overlaps(box: Box, others: Box[]): number {
  return others.filter(
    (one) => box.left < one.right && one.left < box.right && box.top < one.bottom && one.top < box.bottom,
  ).length;
}
