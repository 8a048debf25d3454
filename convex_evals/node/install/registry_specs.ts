/**
 * node install/registry_specs.ts NPM_CLI
 *
 * Whether npm itself takes each dependency of the package.json in this folder for one of a registry. Prints the first
 * that is none, as JSON {"name", "problem"}, or null.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

interface Parsed {
  readonly type: string;
  readonly registry?: boolean;
  readonly name: string | null;
  readonly subSpec?: Parsed;
}

interface Semver {
  validRange(range: string, options: { loose: boolean }): string | null;
}

const [npmCli = ""] = process.argv.slice(2);
const require = createRequire(npmCli);
const parse = require("npm-package-arg") as { resolve(name: string, spec: string): Parsed };
const semver = require("semver") as Semver;
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, Record<string, string> | undefined>;
const wanted = ["dependencies", "optionalDependencies"].flatMap((section) => Object.entries(manifest[section] ?? {}));
process.stdout.write(
  JSON.stringify(wanted.map(([name, spec]) => found(name, spec)).find((problem) => problem !== null) ?? null),
);

function found(name: string, spec: string): { name: string; problem: string } | null {
  try {
    const parsed = parse.resolve(name, spec);
    const target = parsed.type === "alias" ? parsed.subSpec : parsed;
    if (parsed.name !== name) return { name, problem: "npm takes it for a package of another name" };
    if (!target || target.registry !== true || target.type === "alias") {
      return { name, problem: `npm takes it for a ${target?.type ?? parsed.type}` };
    }
    if (target.type === "range") semver.validRange(spec, { loose: true });
    return null;
  } catch (error) {
    return { name, problem: (error as Error).message };
  }
}
