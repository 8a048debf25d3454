import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parsePatch } from "diff";
import {
  applyExactPatch,
  CONVEX_TEST_FILE,
  CONVEX_TEST_VERSION,
  patchedConvexTest,
  PatchError,
} from "../realm/convex_test.ts";

const original = readFileSync(CONVEX_TEST_FILE, "utf8");
const patch = readFileSync(new URL(`../../patches/convex-test+${CONVEX_TEST_VERSION}.patch`, import.meta.url), "utf8");

test("the patch applies to the installed version", () => {
  const patched = patchedConvexTest();
  assert.ok(patched.includes('from "embedded:seams"'));
  assert.ok(!original.includes("embedded:seams"));
});

// Where each hunk takes a line away, by line number of the original.
function removedLines(): { line: number; hunk: number }[] {
  const [parsed] = parsePatch(patch);
  return (parsed?.hunks ?? []).map((hunk) => {
    const before = hunk.lines.slice(
      0,
      hunk.lines.findIndex((line) => line.startsWith("-")),
    );
    const removed = hunk.lines.some((line) => line.startsWith("-"));
    // A hunk that only adds is bound to its first line of context.
    const offset = removed ? before.filter((line) => !line.startsWith("+")).length : 0;
    return { line: hunk.oldStart + offset, hunk: hunk.oldStart };
  });
}

test("every hunk must match exactly", () => {
  const removed = removedLines();
  assert.ok(removed.length > 10);
  for (const { line, hunk } of removed) {
    const lines = original.split("\n");
    lines[line - 1] += " // changed upstream";
    const apply = (): string => applyExactPatch(lines.join("\n"), patch, "convex-test");
    assert.throws(
      apply,
      (error) => error instanceof PatchError && error.message.includes(`does not apply (hunk at line ${hunk})`),
      `line ${line}`,
    );
  }
});

test("a patch for several files or none is refused", () => {
  assert.throws(() => applyExactPatch(original, patch + patch, "x"), PatchError);
  assert.throws(() => applyExactPatch(original, "", "x"), PatchError);
});
