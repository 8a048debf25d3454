/** Small projects for the checker's tests. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TestContext } from "node:test";
import { buildPush } from "../../push/request.ts";
import { copyApp, workFolder, type App } from "../../push/test/work_folder.ts";
import { lint } from "../lint.ts";
import { typecheck } from "../typecheck.ts";

/** Writes files (by relative path) into a project. */
export function addFiles(project: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(project, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** A copy of a test app with more files and the initial `_generated`. */
export async function makeProject(t: TestContext, app: App, files: Record<string, string> = {}): Promise<string> {
  const project = copyApp(app, path.join(workFolder(t), "project"));
  addFiles(project, files);
  await buildPush(project);
  return project;
}

/** What type check and lint find in a project that was bundled, as `file: code` and `file: rule`. */
export async function found(
  t: TestContext,
  files: Record<string, string>,
  app: App = "bare",
  change: (project: string) => void = () => {},
): Promise<string[]> {
  const project = await makeProject(t, app, files);
  change(project);
  const sources = path.join(path.dirname(project), "sources.json");
  writeFileSync(sources, JSON.stringify((await buildPush(project)).sources));
  const terms = { sources, strict: true };
  const types = typecheck(project, terms).diagnostics.map(({ file, code }) => `${file}: ${code}`);
  return [...types, ...lint(project, terms).problems.map(({ file, rule }) => `${file}: ${rule}`)];
}
