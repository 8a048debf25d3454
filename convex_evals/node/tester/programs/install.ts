/**
 * Has every program that a grader starts run outside of the tester, as project code: in a containment of its own, by the parent
 * process. `node:child_process` is as it was to graders; in Node's binding below it nothing starts a program any more.
 */
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { replaceChildProcesses } from "./child.ts";
import { Connection } from "./connection.ts";
import { doorsOfThread } from "../doors.ts";
import type { Folders } from "./request.ts";
import { syncSpawn, type SyncOptions, type SyncResult } from "./sync.ts";

/** Descriptors of the two connections to the parent: one to wait on, and one to go on beside. */
export interface ProgramFds {
  beside: number;
  waiting: number;
}

interface Bindings {
  process_wrap: { Process: { prototype: { spawn(options: unknown): number } } };
  spawn_sync: { spawn(options: SyncOptions): SyncResult };
}

const binding = (process as unknown as { binding<N extends keyof Bindings>(name: N): Bindings[N] }).binding;

/** `A,B`, as a command line or the environment has them. */
export function parseFds(text: string | undefined): ProgramFds | undefined {
  if (text === undefined || text === "") return undefined;
  const [beside, waiting] = text.split(",").map(Number);
  return { beside: beside!, waiting: waiting! };
}

/** `hidden`: folders of the tester's own, which no program sees. */
export function installPrograms({ beside, waiting }: ProgramFds, hidden: readonly string[]): void {
  const project = realpathSync(process.env.MODEL_OUTPUT_DIR!);
  const scratch = realpathSync(tmpdir());
  const folders: Folders = { base: path.dirname(project), project, scratch, hidden: new Set(hidden) };
  replaceChildProcesses(new Connection(beside), folders);
  binding("spawn_sync").spawn = syncSpawn(waiting, folders);
  refuseNativeOnes();
  guardThreads(project);
  // Otherwise it uses a thread for what it does synchronously, which can start nothing.
  process.env.ESBUILD_WORKER_THREADS = "0";
}

const NOT_NATIVELY = "A grader starts programs by `node:child_process`, in its main thread";

/** For what gets by the functions above. */
function refuseNativeOnes(): void {
  binding("process_wrap").Process.prototype.spawn = () => {
    throw new Error(NOT_NATIVELY);
  };
}

/** What a grader's threads begin with: none of them can start a program, and all connect as the grader does. */
const threadGuard = (): string => `{
  const refuse = () => { throw new Error(${JSON.stringify(NOT_NATIVELY)}); };
  process.binding("process_wrap").Process.prototype.spawn = refuse;
  process.binding("spawn_sync").spawn = refuse;
  ${doorsOfThread()}
}`;

/** A thread has Node's own functions again, and the memory of the tester. */
function guardThreads(project: string): void {
  const threads = process.getBuiltinModule("node:worker_threads");
  threads.Worker = class extends threads.Worker {
    constructor(file: string | URL, options: import("node:worker_threads").WorkerOptions = {}) {
      const where =
        file instanceof URL
          ? file.protocol === "file:"
            ? fileURLToPath(file)
            : ""
          : options.eval === true
            ? ""
            : path.resolve(file);
      if (where.startsWith(project + path.sep)) {
        throw new Error("The project's code must not run in a thread of the grader: start it as a program");
      }
      const guard = threadGuard();
      const preloaded = ["--import", `data:text/javascript,${encodeURIComponent(guard)}`];
      const execArgv = [...(options.execArgv ?? process.execArgv), ...preloaded];
      // Node preloads nothing into a thread whose text it is given.
      super(options.eval === true ? `${guard}\n${String(file)}` : file, { ...options, execArgv });
    }
  };
  syncBuiltinESMExports();
}
