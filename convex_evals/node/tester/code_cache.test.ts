import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { cachedScript, readScript } from "../code_cache.ts";

const here = path.join(import.meta.dirname, "..");

for (const name of [
  "backend/app/backend",
  "backend/app/runtime",
  "tester/vitest",
  "grader/library",
  "grader/compiler",
  "grader/page_process",
]) {
  test(`code is kept of ${name}, and V8 takes it`, () => {
    const file = path.join(here, `${name}.bundle.cjs`);
    assert.ok(existsSync(`${file}.code`), "build.ts records it");
    assert.equal(cachedScript(readScript(file), file).cachedDataRejected, false);
  });
}

test("V8 takes the backend's code under the flags that it is started with", () => {
  const flags = JSON.parse(readFileSync(path.join(here, "backend", "flags.json"), "utf8")) as string[];
  const source = `
    import { cachedScript, readScript } from ${JSON.stringify(pathToFileURL(path.join(here, "code_cache.ts")).href)};
    for (const file of process.argv.slice(1)) console.log(cachedScript(readScript(file), file).cachedDataRejected);`;
  const files = ["backend", "runtime"].map((name) => path.join(here, "backend", "app", `${name}.bundle.cjs`));
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", source, ...files], {
    encoding: "utf8",
  });
  assert.equal(stdout, "false\nfalse\n", stderr);
});

test("texts are read as they are", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "code-"));
  for (const text of ["ascii", "naïve ✓"]) {
    writeFileSync(path.join(folder, "text"), text);
    assert.equal(readScript(path.join(folder, "text")), text);
  }
  rmSync(folder, { recursive: true });
});

test("code that does not fit is left aside", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "code-"));
  const file = path.join(folder, "script.cjs");
  writeFileSync(`${file}.code`, "not V8's");
  const script = cachedScript("40 + 2", file);
  assert.deepEqual([script.cachedDataRejected, script.runInThisContext()], [true, 42]);
  rmSync(folder, { recursive: true });
});
