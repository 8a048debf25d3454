/** The convex-test package with our patch applied. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { applyPatch, parsePatch } from "diff";

/** The convex-test release that the patch file is written for. */
export const CONVEX_TEST_VERSION = "0.0.60";

const PATCH_FILE = fileURLToPath(new URL(`../../patches/convex-test+${CONVEX_TEST_VERSION}.patch`, import.meta.url));

/** The file of the installed package that is patched. */
export const CONVEX_TEST_FILE = fileURLToPath(import.meta.resolve("convex-test"));

export class PatchError extends Error {}

/**
 * Applies a unified diff to one file's text.
 * Throws `PatchError` naming the first hunk that does not match exactly.
 */
export function applyExactPatch(source: string, patchText: string, what: string): string {
  const [patch, ...others] = parsePatch(patchText);
  if (!patch?.hunks.length || others.length > 0) {
    throw new PatchError(`the patch for ${what} must change exactly one file`);
  }
  const result = applyPatch(source, patch, { fuzzFactor: 0, autoConvertLineEndings: false });
  if (result !== false) return result;
  const hunk = patch.hunks.find(
    (candidate) => applyPatch(source, { ...patch, hunks: [candidate] }, { fuzzFactor: 0 }) === false,
  );
  const where = hunk ? `hunk at line ${hunk.oldStart}` : "hunks overlap";
  throw new PatchError(`the patch for ${what} does not apply (${where}); regenerate it for the installed version`);
}

/** The patched source of convex-test, for the app's context. */
export function patchedConvexTest(): string {
  const packageJson = JSON.parse(readFileSync(new URL("../package.json", `file://${CONVEX_TEST_FILE}`), "utf8")) as {
    version: string;
  };
  if (packageJson.version !== CONVEX_TEST_VERSION) {
    throw new PatchError(
      `convex-test ${packageJson.version} is installed, but the patch is for ${CONVEX_TEST_VERSION}`,
    );
  }
  return applyExactPatch(
    readFileSync(CONVEX_TEST_FILE, "utf8"),
    readFileSync(PATCH_FILE, "utf8"),
    `convex-test ${CONVEX_TEST_VERSION}`,
  );
}
