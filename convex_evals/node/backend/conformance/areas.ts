/**
 * The rows of the table, by area. Run, it writes `summary.json`, from which the documentation has its table.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isAccept, type Row } from "./harness.ts";

/** What the documentation says of an area. */
interface Summary {
  readonly about: string;
  readonly rows: number;
  readonly accepted: number;
}

const folder = new URL("./rows/", import.meta.url);

/** What the documentation was made from. */
export const SUMMARY = new URL("./summary.json", import.meta.url);

/** Rows by area, which is the name of their file. */
export async function loadAreas(): Promise<ReadonlyMap<string, readonly Row[]>> {
  const areas = new Map<string, readonly Row[]>();
  for (const file of readdirSync(folder).sort()) {
    const { rows } = (await import(new URL(file, folder).href)) as { rows: readonly Row[] };
    areas.set(file.replace(/\.ts$/, ""), rows);
  }
  return areas;
}

/** What `summary.json` has to say: each area is about what the first comment of its file says. */
export function summaryText(areas: ReadonlyMap<string, readonly Row[]>): string {
  const summary = [...areas].map(([area, rows]): [string, Summary] => {
    const text = readFileSync(new URL(`${area}.ts`, folder), "utf8");
    const about = /^\/\*\*\s*(?:\* )?(.*?\.)(?:\s|$)/s.exec(text)?.[1] ?? "";
    return [area, { about, rows: rows.length, accepted: rows.filter(isAccept).length }];
  });
  return `${JSON.stringify(Object.fromEntries(summary), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(SUMMARY, summaryText(await loadAreas()));
