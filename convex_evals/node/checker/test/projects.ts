/** Small projects for the checker's tests. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TestContext } from "node:test";
import { buildPush } from "../../push/request.ts";
import { copyApp, workFolder, type App } from "../../push/test/work_folder.ts";

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
