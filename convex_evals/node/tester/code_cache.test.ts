import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { cachedScript, readScript } from "../code_cache.ts";

const here = path.join(import.meta.dirname, "..");

for (const name of ["backend/app/backend", "backend/app/runtime", "tester/vitest", "grader/library", "grader/page_process"]) {
  test(`code is kept of ${name}, and V8 takes it`, () => {
    const file = path.join(here, `${name}.bundle.cjs`);
    assert.ok(existsSync(`${file}.code`), "build.ts records it");
    assert.equal(cachedScript(readScript(file), file).cachedDataRejected, false);
  });
}

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
