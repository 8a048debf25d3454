/** The apps in `apps/`, deployed as they are. */

import { cpSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { BackendOptions } from "../../server.ts";
import { deploy, type Files, type TestApp } from "../../test/harness.ts";

export const APPS = ["accounts", "chat", "feed", "images", "recipes", "reminders", "webhooks", "workshop"] as const;
export type AppName = (typeof APPS)[number];

const folder = fileURLToPath(new URL("./apps", import.meta.url));
const packages = path.dirname(path.dirname(createRequire(import.meta.url).resolve("convex/package.json")));

/** The files of an app by path below its folder. */
export function filesOf(app: AppName): Files {
  const root = path.join(folder, app);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(root, file), readFileSync(file, "utf8")];
    }),
  );
}

/** A copy of an app at `target`, ready for the official command line. */
export function copyApp(app: AppName, target: string): string {
  cpSync(path.join(folder, app), target, { recursive: true });
  symlinkSync(packages, path.join(target, "node_modules"));
  return target;
}

export async function deployApp(t: TestContext, app: AppName, options: BackendOptions = {}): Promise<TestApp> {
  return await deploy(t, filesOf(app), options);
}

/** Sets who an admin client acts as: official clients have this method, and keep it out of their types. */
export interface AdminAuth {
  setAdminAuth(key: string, identity?: object): void;
}
