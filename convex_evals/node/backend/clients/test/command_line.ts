/** `npx convex`, unchanged, against any backend. */

import { execFile, spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { ADMIN_KEY } from "../../versions.ts";

const run = promisify(execFile);
const command = path.join(
  path.dirname(createRequire(import.meta.url).resolve("convex/package.json")),
  "bin",
  "main.js",
);

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npx convex ...args` in `project`; rejects where the command fails. */
export async function convex(project: string, url: string, args: readonly string[]): Promise<Output> {
  return await run(process.execPath, argvOf(url, args), { cwd: project, env: environment(project), timeout: 60_000 });
}

/** Starts a command that does not end by itself; `text` is what it has printed so far. */
export function startConvex(t: TestContext, project: string, url: string, args: readonly string[]): { text(): string } {
  const child = spawn(process.execPath, argvOf(url, args), {
    cwd: project,
    env: environment(project),
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += String(data)));
  return { text: () => text };
}

function argvOf(url: string, args: readonly string[]): string[] {
  return [command, ...args, "--url", url, "--admin-key", ADMIN_KEY];
}

function environment(project: string): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: project, CI: "1" };
}
