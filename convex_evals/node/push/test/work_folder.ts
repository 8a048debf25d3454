/** Copies of the test apps, with the toolchain's packages linked in. */
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { TestContext } from "node:test";

/** The apps in `apps/`. */
export const APPS = ["bare", "schema", "local_component", "npm_component", "everything"] as const;
export type App = (typeof APPS)[number];

const apps = fileURLToPath(new URL("./apps", import.meta.url));

/** The node_modules that our own imports resolve from. */
export const toolchainPackages = path.dirname(
  path.dirname(createRequire(import.meta.url).resolve("convex/package.json")),
);

/** A new folder that is gone after the test. */
export function workFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "convex-evals-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of a test app at `folder`, ready to be deployed. */
export function copyApp(app: App, folder: string): string {
  cpSync(path.join(apps, app), folder, { recursive: true });
  symlinkSync(toolchainPackages, path.join(folder, "node_modules"));
  return folder;
}
