/** How figures are written. */

const RANGE = 0x2013;
const MINUS = "\u2212";

export function formatter(unit: string | undefined): (value: number) => string {
  switch (unit) {
    case "usd":
      return (value) => `$${significant(value)}`;
    case "count":
      return significant;
    case "seconds":
      return (value) => `${significant(value)} s`;
    default:
      return percent;
  }
}

export function percent(value: number): string {
  return `${significant(Math.round(value * 1000) / 10, 1)}%`;
}

/** Of a difference, with its sign. */
export function points(value: number): string {
  const rounded = Math.round(value * 1000) / 10;
  return `${rounded > 0 ? "+" : rounded < 0 ? MINUS : ""}${significant(Math.abs(rounded), 1)}`;
}

export function interval(low: unknown, high: unknown, write: (value: number) => string): string {
  if (typeof low !== "number" || typeof high !== "number") return "";
  return ` (${write(low)} ${String.fromCharCode(RANGE)} ${write(high)})`;
}

/** At most two significant digits below one, `decimals` above. */
export function significant(value: number, decimals = 2): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size < 1 ? value.toPrecision(2) : value.toFixed(size < 100 ? decimals : 0);
  const plain = Number(text);
  return Math.abs(plain) < 1e-6
    ? text
    : plain.toLocaleString("en", { maximumFractionDigits: 8, useGrouping: size >= 1e4 });
}

export function shorten(text: string, most: number): string {
  const letters = [...text.replace(/\s+/g, " ")];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}
