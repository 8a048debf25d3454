/**
 * Runs one compiled grader on vitest's own runner and assertions, in a process of its own.
 *
 * What vitest's workers set up before a test file is set up here; `tester.test.ts` runs the same graders both ways.
 * Its parent sends a `DirectRun` and gets a `Verdict`, or `Broken`.
 */
import { enableCompileCache } from "node:module";
import path from "node:path";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import util from "node:util";
import type { VitestRunner } from "@vitest/runner";
import type { PackageSources } from "./resolution.ts";
import { useServerPorts } from "./server_ports.ts";
import { collectVerdict } from "./tasks.ts";
import type { ReportedError, Verdict } from "./verdict.ts";

/** `timeout` in milliseconds, for each test and each hook; `nonce` marks the answer as ours. */
export interface DirectRun extends PackageSources {
  nonce: string;
  grader: string;
  modules: Record<string, string>;
  timeout: number;
  root: string;
}

/** What only the whole of vitest can run, and why. */
export interface Broken {
  broken: string;
}

export interface DirectAnswer {
  nonce: string;
  verdict: Verdict | Broken;
}

/** Node could not link what vite may: nothing of the grader has run then. */
const UNLINKED = new Set([
  ...["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT", "ERR_UNKNOWN_FILE_EXTENSION", "ERR_IMPORT_ATTRIBUTE_MISSING"],
  ...["ERR_PACKAGE_PATH_NOT_EXPORTED", "ERR_UNSUPPORTED_ESM_URL_SCHEME", "ERR_INVALID_MODULE_SPECIFIER"],
]);

// Made by build.ts; vitest is imported after this.
enableCompileCache(fileURLToPath(new URL("../build/compile-cache", import.meta.url)));

/** The settings that vitest's main process would have sent, as far as its runner and assertions read them. */
function settings(run: Omit<DirectRun, "nonce">): Record<string, unknown> {
  return {
    mode: "test",
    root: run.root,
    name: "",
    pool: "forks",
    isolate: true,
    globals: true,
    watch: false,
    allowOnly: true,
    passWithNoTests: true,
    testTimeout: run.timeout,
    hookTimeout: run.timeout,
    clearMocks: false,
    mockReset: false,
    restoreMocks: false,
    unstubEnvs: false,
    unstubGlobals: false,
    maxConcurrency: 5,
    setupFiles: [],
    defines: {},
    disableConsoleIntercept: true,
    expect: {},
    fakeTimers: { loopLimit: 10_000, shouldClearNativeTimers: true },
    snapshotOptions: { updateSnapshot: "none", snapshotFormat: {}, expand: false },
    snapshotSerializers: [],
    sequence: { hooks: "stack" },
    env: { BASE_URL: "/", MODE: "test", DEV: true, PROD: false },
  };
}

const GLOBALS = [
  ...["suite", "test", "describe", "it", "chai", "expect", "assert", "expectTypeOf", "assertType", "vitest", "vi"],
  ...["beforeAll", "afterAll", "beforeEach", "afterEach", "onTestFinished", "onTestFailed"],
];

/** Calls back with what vitest would report as unhandled: nobody else listens. */
function watchForErrors(report: (error: ReportedError) => void, processError: (error: unknown) => unknown): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      if (process.listenerCount(event) === 1) report(processError(error) as ReportedError);
    });
  }
}

async function runDirectly(run: Omit<DirectRun, "nonce">): Promise<Verdict | Broken> {
  useServerPorts();
  Object.assign(process.env, { TEST: "true", VITEST: "true", SSR: "1", PROD: "", DEV: "1", BASE_URL: "/", MODE: "test" });
  Object.assign(process.env, { VITEST_WORKER_ID: "1", VITEST_POOL_ID: "1" });
  process.env.NODE_ENV ??= "test";
  process.setSourceMapsEnabled(true);
  const { installHooks } = await import("./direct_hooks.ts");
  installHooks(run, run.modules);
  const config = settings(run);
  const state = {
    config,
    ctx: { pool: "forks", config, projectName: "" },
    environment: { name: "node", transformMode: "ssr" },
    rpc: {
      snapshotSaved: async () => {},
      resolveSnapshotPath: async (file: string) => path.join(path.dirname(file), "__snapshots__", `${path.basename(file)}.snap`),
    },
    moduleCache: new Map(),
    moduleExecutionInfo: new Map(),
    durations: { environment: 0, prepare: 0 },
    providedContext: {},
    filepath: run.grader,
    onCancel: new Promise(() => {}),
    onCleanup: () => {},
    onFilterStackTrace: (stack: string) => stack,
  };
  Object.defineProperty(globalThis, "__vitest_worker__", { value: state, configurable: true, writable: true });
  // Before any test may replace them with false ones.
  const { setSafeTimers, getSafeTimers } = await import("@vitest/utils");
  setSafeTimers();
  const vitest = (await import("vitest")) as unknown as Record<string, unknown>;
  const { VitestTestRunner } = await import("vitest/runners");
  const { startTests } = await import("@vitest/runner");
  const { processError } = await import("@vitest/utils/error");
  const { VitestSnapshotEnvironment } = await import("vitest/snapshot");
  Object.assign(config.snapshotOptions as object, { snapshotEnvironment: new VitestSnapshotEnvironment() });
  for (const name of GLOBALS) (globalThis as Record<string, unknown>)[name] = vitest[name];
  Object.assign(globalThis, { __vitest_required__: { util, timers, timersPromises }, __vitest_environment__: "node" });
  Object.defineProperty(globalThis, "__vitest_index__", { value: vitest, enumerable: false });
  (vitest.expect as { setState(state: object): void }).setState({ environment: "node" });

  process.exit = (code = process.exitCode ?? 0) => {
    throw new Error(`process.exit unexpectedly called with "${code}"`);
  };
  const unhandled: ReportedError[] = [];
  watchForErrors((error) => unhandled.push(error), processError);
  const runner = new VitestTestRunner(config as never) as VitestRunner;
  runner.onTestAnnotate = async (_test, annotation) => annotation;
  let unlinked: Broken | undefined;
  runner.importFile = async (file) => {
    try {
      return await import(pathToFileURL(file).href);
    } catch (error) {
      const { name, code, message } = error as NodeJS.ErrnoException;
      if (name === "SyntaxError" || UNLINKED.has(code ?? "")) unlinked = { broken: message };
      throw error;
    }
  };
  const files = await startTests([{ filepath: run.grader, testLocations: undefined }], runner);
  await new Promise((resolve) => getSafeTimers().setTimeout(resolve));
  return unlinked ?? collectVerdict(files, unhandled, run.grader);
}

const exit = process.exit.bind(process);
const { stdout, stderr } = process;

/** Ends the process when what it printed is out. */
function leave(): void {
  stdout.write("", () => stderr.write("", () => exit(0)));
}

// A grader may take the channel away from itself; its parent then sees the process end without a result.
const send = process.send!.bind(process);
process.once("message", ({ nonce, ...run }: DirectRun) => {
  // A test that waits for nothing must time out, and not end the process.
  setInterval(() => {}, 2 ** 30);
  const answer = (verdict: Verdict | Broken): boolean => send({ nonce, verdict } satisfies DirectAnswer, leave);
  runDirectly(run).then(
    answer,
    // Nothing that a grader does gets here: what vitest keeps of its workers is not as this file expects.
    (error: unknown) => answer({ broken: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
