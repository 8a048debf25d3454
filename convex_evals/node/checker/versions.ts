/** What the verdicts of this toolchain depend on, for the record of a run. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { RULES } from "./rules.ts";

const require = createRequire(import.meta.url);

const PACKAGES = [
  "typescript",
  "eslint",
  "typescript-eslint",
  "esbuild",
  "convex",
  "convex-test",
  "vitest",
  "prettier",
] as const;

/** Reads the version from the manifest in node_modules; not every package exports its package.json. */
function installedVersion(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(path.join(folder, name, "package.json"), "utf8")) as { version: string }).version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${name} is not installed`);
}

/** Versions by package name, `node`, and `rules`: a hash of the lint rules that are in force. */
export function versions(): Record<string, string> {
  const inForce = RULES.map(({ name, scope, options }) => [name, scope, options ?? []]);
  const rules = createHash("sha256").update(JSON.stringify(inForce)).digest("hex");
  return {
    node: process.versions.node,
    ...Object.fromEntries(PACKAGES.map((name) => [name, installedVersion(name)])),
    rules: rules.slice(0, 16),
  };
}
