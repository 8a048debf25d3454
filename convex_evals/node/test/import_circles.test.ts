import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The relative imports of every source file, those of types included; paths are relative to `ROOT`. */
function imports(): Map<string, string[]> {
  const excluded = ["**/node_modules", "build", "sample", "**/test", "**/bench", "**/*.test.ts", "**/*.bundle.*"];
  const files = ts.sys.readDirectory(ROOT, [".ts"], excluded).map((file) => path.relative(ROOT, file));
  const importedBy = (file: string): string[] =>
    ts
      .preProcessFile(readFileSync(path.join(ROOT, file), "utf8"), true, true)
      .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
      .map(({ fileName }) => path.join(path.dirname(file), fileName));
  return new Map(files.map((file) => [file, importedBy(file)]));
}

/** What imports itself by way of others, as one such way. */
function circle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const free = new Set<string>();
  const visit = (name: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (free.has(name)) return undefined;
    for (const next of graph.get(name) ?? []) {
      const found = visit(next, [...way, name]);
      if (found) return found;
    }
    free.add(name);
    return undefined;
  };
  return [...graph.keys()].map((name) => visit(name, [])).find((found) => found !== undefined);
}

/** The same imports between groups of files. */
function grouped(graph: ReadonlyMap<string, readonly string[]>, groupOf: (file: string) => string): typeof graph {
  const groups = new Map<string, string[]>();
  for (const [file, imported] of graph) {
    const others = imported.map(groupOf).filter((group) => group !== groupOf(file));
    groups.set(groupOf(file), [...(groups.get(groupOf(file)) ?? []), ...others]);
  }
  return groups;
}

const first = (file: string, count: number): string => file.split(path.sep).slice(0, count).join(path.sep);

test("no files import each other", () => {
  const graph = imports();
  assert.ok(graph.size > 150 && graph.get("tester/main.ts")?.includes("tester/verdict.ts"));
  assert.equal(circle(graph), undefined);
});

test("no folders import each other, nor do folders inside of them and the files beside these", () => {
  assert.equal(circle(grouped(imports(), (file) => first(file, 1))), undefined);
  assert.equal(circle(grouped(imports(), (file) => first(file, 2))), undefined);
});

test("a circle is found, and named", () => {
  const graph = new Map([
    ["a", ["b", "x"]],
    ["b", ["c"]],
    ["c", ["b"]],
  ]);
  assert.deepEqual(circle(graph), ["b", "c", "b"]);
});
