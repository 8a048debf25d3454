/** Vitest runs graders in a process of its own: what that one needs to have programs started. */
import { ChildProcess } from "node:child_process";
import path from "node:path";
import { installPrograms, parseFds, type ProgramFds } from "./install.ts";

const WORKER_FDS = "CONVEX_EVALS_PROGRAMS_FDS";
/** The grader's folder, and the tester's own. */
export const WORKER_FOLDERS = "CONVEX_EVALS_FOLDERS";

interface SpawnOptions {
  stdio?: unknown;
  envPairs?: string[];
}

/** In vitest's main process, which executes nothing of a suite: workers get the descriptors, behind their own. */
export function handOn({ beside, waiting }: ProgramFds): void {
  const prototype = ChildProcess.prototype as unknown as { spawn(this: ChildProcess, options: SpawnOptions): number };
  const { spawn } = prototype;
  prototype.spawn = function (options) {
    const { stdio } = options;
    if (!Array.isArray(stdio) || !stdio.includes("ipc")) return spawn.call(this, options);
    const fds = `${WORKER_FDS}=${stdio.length},${stdio.length + 1}`;
    return spawn.call(this, {
      ...options,
      stdio: [...(stdio as unknown[]), beside, waiting],
      envPairs: [...(options.envPairs ?? []), fds],
    });
  };
}

/** In the worker, before anything of the suite is there. */
export function takeOver(): void {
  const [scratch, own] = (process.env[WORKER_FOLDERS] ?? "").split(path.delimiter);
  const fds = parseFds(process.env[WORKER_FDS]);
  delete process.env[WORKER_FOLDERS];
  delete process.env[WORKER_FDS];
  if (scratch) process.env.TMPDIR = scratch;
  if (fds) installPrograms(fds, own ? [own] : []);
}
