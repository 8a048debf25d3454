/** One compiled grader, run directly: without vite, on vitest's own runner and assertions. */
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { CompiledGrader } from "../checker/compile_grader.ts";
import type { Broken, DirectAnswer, DirectRun } from "./direct_worker.ts";
import type { GraderRun } from "./run.ts";
import { CONDITIONS, ENDING } from "./resolution.ts";
import { ENDED_EARLY, type Verdict } from "./verdict.ts";

const worker = fileURLToPath(new URL(`./direct_worker${ENDING}`, import.meta.url));

// A process that has answered ends by itself, when all that it printed is out; on a busy machine that may take a while.
const LAST_WORDS_MS = 5_000;
// Processes that a grader left behind may hold its output open for ever.
const HELD_OPEN_MS = 2_000;

/**
 * Runs a compiled grader.
 *
 * @returns undefined where Node cannot link the grader: vitest, which may, has the last word on that
 */
export async function runCompiled({ modules }: CompiledGrader, request: GraderRun, root: string): Promise<Verdict | undefined> {
  const run: DirectRun = { ...request, modules, root, nonce: randomUUID() };
  const verdict = await inWorker(run);
  if ("broken" in verdict) {
    process.stderr.write(`the grader is run by vitest: ${verdict.broken}\n`);
    return undefined;
  }
  return verdict;
}

function inWorker(run: DirectRun): Promise<Verdict | Broken> {
  return new Promise((resolve, reject) => {
    const child = fork(worker, { stdio: ["ignore", "pipe", "pipe", "ipc"], serialization: "json", execArgv: CONDITIONS.flatMap((name) => ["--conditions", name]) });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => process.stderr.write(chunk));
    let verdict: Verdict | Broken = { tests: [], errors: [{ phase: "unhandled", message: ENDED_EARLY, file: null, line: null }] };
    const done = (): void => resolve(verdict);
    child.on("message", (message) => {
      // A grader may send messages, too.
      const answer = message as Partial<DirectAnswer> | null;
      if (answer?.nonce !== run.nonce || answer.verdict === undefined) return;
      verdict = answer.verdict;
      setTimeout(() => child.kill("SIGKILL"), LAST_WORDS_MS).unref();
    });
    child.on("error", reject);
    child.on("close", done);
    child.on("exit", () => setTimeout(done, HELD_OPEN_MS));
    child.send(run);
  });
}
