/** A badge as SVG. Names are of other people: they are text in it, and nothing else. */

const CHARACTER_WIDTH = 7;
const PADDING = 10;
const LONGEST_LABEL = 60;
// https://www.w3.org/TR/xml/#charsets
const NOT_IN_XML = /[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu;

export function badge(label: string, message: string, colour: string): string {
  const short = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
  const left = widthOf(short);
  const right = widthOf(message);
  const title = `${escaped(short)}: ${escaped(message)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${left}" height="20" fill="#444"/>
<rect x="${left}" width="${right}" height="20" fill="${colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="${left / 2}" y="14">${escaped(short)}</text>
<text x="${left + right / 2}" y="14">${escaped(message)}</text>
</g>
</svg>
`;
}

export function colourOf(rate: number): string {
  return rate >= 0.8 ? "#2a7e3b" : rate >= 0.5 ? "#8a6d00" : "#b3261e";
}

function widthOf(text: string): number {
  return text.length * CHARACTER_WIDTH + 2 * PADDING;
}

function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(NOT_IN_XML, "").replace(/[&<>"']/g, (character) => names[character] ?? "");
}
