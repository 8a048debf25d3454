/** Suites made for one test, and the tester run on them as the Python side runs it. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { compileGrader } from "../../checker/compile_grader.ts";
import { CONDITIONS } from "../resolution.ts";
import { ENDED_EARLY, type Verdict } from "../verdict.ts";

const script = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Where the grader of a suite of one eval is. */
export const GRADER = "evals/000-a/000-b/grader.test.ts";

/** Writes files (by relative path) into a new folder that is gone after the test. */
export function makeSuite(t: TestContext, files: Record<string, string>): string {
  const suite = mkdtempSync(path.join(realpathSync(tmpdir()), "convex-evals-suite-"));
  t.after(() => rmSync(suite, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(suite, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return suite;
}

/** What a finished tester leaves: the verdict, what it printed, how it ended. */
export interface Finished {
  verdict: { kind: string; token: string } & Verdict;
  printed: string;
  code: number | null;
}

export interface Options {
  packages?: string[];
  env?: Record<string, string>;
  timeout?: number;
  /** The compiled grader; without it, the whole of vitest runs. */
  compiled?: string;
  /** One way alone, where the two cannot be compared. */
  only?: "direct" | "vitest";
}

/** Starts the tester at the head of its own process group, with the verdict on descriptor 3. */
export function startTester(
  suite: string,
  grader: string,
  { packages = [], env = {}, timeout = 5000, compiled }: Options = {},
): ChildProcess {
  const args =
    compiled === undefined
      ? [script("main.ts"), "--grader", path.join(suite, grader)]
      : [...CONDITIONS.flatMap((name) => ["--conditions", name]), script("direct.bundle.mjs"), "--compiled-fd", "4"];
  args.push("--suite", suite, "--verdict-fd", "3");
  if (packages.length > 0) args.push("--packages", ...packages);
  const child = spawn(process.execPath, [...args, "--test-timeout", String(timeout)], {
    stdio: ["pipe", "pipe", "pipe", "pipe", compiled === undefined ? "ignore" : openSync(compiled, "r")],
    detached: true,
    env: { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: suite, TMPDIR: tmpdir(), ...env },
  });
  child.stdin?.write("secret\n");
  return child;
}

/** Runs a grader to its end: in the whole of vitest, and where it can be compiled directly, with the same verdict. */
export async function runTester(suite: string, grader: string, options: Options = {}): Promise<Finished> {
  const whole = options.only === "direct" ? undefined : await runOnce(suite, grader, options);
  if (whole && options.only === "vitest") return whole;
  const compilation = await compileGrader(path.join(suite, grader), suite, options.packages ?? []);
  if ("reason" in compilation) {
    assert.ok(whole, `${grader} is not run directly: ${compilation.reason}`);
    return whole;
  }
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "convex-evals-compiled-"));
  try {
    const compiled = path.join(folder, "grader.json");
    writeFileSync(compiled, JSON.stringify(compilation.compiled));
    const direct = await runOnce(suite, grader, { ...options, compiled });
    if (whole) {
      assert.deepEqual(withoutTimes(direct.verdict), withoutTimes(whole.verdict), `${grader}: directly, and in vitest`);
    }
    return direct;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withoutTimes(verdict: Verdict): unknown {
  return { ...verdict, tests: verdict.tests.map((test) => ({ ...test, duration_ms: 0 })) };
}

async function runOnce(suite: string, grader: string, options: Options): Promise<Finished> {
  const child = startTester(suite, grader, options);
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const [verdict, out, printed] = await Promise.all([
    text(child.stdio[3] as Readable),
    text(child.stdout!),
    text(child.stderr!),
  ]);
  if (out !== "") throw new Error(`the tester printed to stdout: ${out}`);
  // A grader that ends its own process leaves nothing: the Python side says so.
  const early = {
    kind: "verdict",
    token: "secret",
    tests: [],
    errors: [{ phase: "unhandled", message: ENDED_EARLY, file: null, line: null }],
  };
  return { verdict: (verdict === "" ? early : JSON.parse(verdict)) as Finished["verdict"], printed, code: await ended };
}
