/** On which terms a project is checked: which of its files run, and how strictly they are judged. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Bundled } from "../push/bundled.ts";
import { isGenerated } from "./files.ts";

/** `sources` is the file that bundling left: which files run. `types`: folders whose node_modules may have types. Not `strict`: the project's own tsconfig says how strictly its types are checked. */
export interface Terms {
  sources?: string;
  strict: boolean;
  types?: string[];
}

export const STRICT: Terms = { strict: true };

/** By absolute path of a file: by specifier, what bundles took for it. */
export type Imports = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** The files that run, but for generated code, by where they run. */
export interface RunningFiles {
  functions: Imports;
  pages: Imports;
}

const NONE: RunningFiles = { functions: new Map(), pages: new Map() };

function importsOf(root: string, bundled: Bundled): Imports {
  const files = Object.entries(bundled).filter(([file]) => !isGenerated(file));
  return new Map(files.map(([file, imports]) => [path.posix.join(root, file), new Map(Object.entries(imports))]));
}

/** Reads what `terms` name, for the project at `root`. */
export function runningFiles(root: string, { sources }: Terms): RunningFiles {
  if (sources === undefined) return NONE;
  const { functions, pages } = JSON.parse(readFileSync(sources, "utf8")) as { functions: Bundled; pages: Bundled };
  return { functions: importsOf(root, functions), pages: importsOf(root, pages) };
}
