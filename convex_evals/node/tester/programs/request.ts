/** From what Node is asked to start to what the parent is asked to start. */
import { accessSync, constants, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pack } from "./archive.ts";
import { REACHED, SEEN } from "../../grader/seen.ts";
import type { Start } from "./frames.ts";

/** Where a grader may write, and programs with it: folders of `base`. */
export interface Folders {
  base: string;
  project: string;
  scratch: string;
  /** The tester's own, which no program is shown. */
  hidden: ReadonlySet<string>;
}

/** What Node's own functions for starting programs make of their arguments. */
export interface SpawnOptions {
  file: string;
  args?: readonly string[] | undefined;
  cwd?: string | URL | null | undefined;
  envPairs?: readonly string[] | undefined;
  [SEEN]?: readonly string[] | undefined;
  [REACHED]?: readonly string[] | undefined;
}

/** What tells where the answer is, and how the tester is run. */
const OURS = /^(CONVEX_ANSWER_\w+|CONVEX_EVALS_\w+|NODE_CHANNEL_\w+)=/;

/** The names of the system's errors that `spawn` reports. */
export type Failure = "ENOENT" | "EACCES" | "ENOTDIR";

function executableProblem(file: string): Failure | undefined {
  try {
    if (!statSync(file).isFile()) return "EACCES";
    accessSync(file, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "EACCES" : "ENOENT";
  }
}

/** The program that a name stands for, found as the system does: programs see the same folders as the tester. */
function located(file: string, cwd: string, env: readonly string[]): { program: string } | Failure {
  if (file.includes("/")) return executableProblem(path.resolve(cwd, file)) ?? { program: file };
  const searched = env.find((pair) => pair.startsWith("PATH="))?.slice("PATH=".length) ?? "/usr/bin:/bin";
  const found = searched
    .split(":")
    .map((folder) => path.join(path.resolve(cwd, folder), file))
    .find((each) => executableProblem(each) === undefined);
  return found === undefined ? "ENOENT" : { program: found };
}

export interface ProgramRequest {
  start: Start;
  files: Buffer;
}

/** What the parent is asked, or why nothing can be started. */
export function requestOf(
  options: SpawnOptions,
  more: Pick<Start, "stdin" | "ipc" | "timeout">,
  folders: Folders,
): ProgramRequest | Failure {
  const cwd = path.resolve(
    options.cwd == null ? process.cwd() : options.cwd instanceof URL ? options.cwd.pathname : options.cwd,
  );
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return "ENOENT";
  const env = (options.envPairs ?? []).filter((pair) => !OURS.test(pair));
  const found = located(options.file, cwd, env);
  if (typeof found === "string") return found;
  const [, ...args] = options.args ?? [];
  const seen = options[SEEN];
  const { base, project, scratch, hidden } = folders;
  return {
    start: {
      argv: [found.program, ...args],
      cwd: within(cwd, folders),
      env,
      ...more,
      results: seen === undefined,
      reached: options[REACHED]?.map(portOf) ?? null,
    },
    files: pack(base, seen ?? [project, scratch], hidden),
  };
}

/** The port of an address; 0, which nobody has, for one without. */
function portOf(address: string): number {
  return Number(URL.parse(address)?.port ?? 0);
}

/** Elsewhere than in these folders a program finds what its own place has, which need not be there. */
function within(cwd: string, { project, scratch }: Folders): string {
  const inside = [project, scratch].some((root) => cwd === root || cwd.startsWith(root + path.sep));
  return inside ? cwd : scratch;
}

export const errnoOf = (name: string): number =>
  -((os.constants.errno as Record<string, number | undefined>)[name] ?? 5);
