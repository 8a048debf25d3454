/** What vitest's workers are given before a test file runs, for a grader that runs without one (`direct.ts`). */
import path from "node:path";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import util from "node:util";
import type { PackageSources } from "./resolution.ts";

/** What the tester needs to run a grader directly: the text of each of the suite's modules, by real path. */
export interface CompiledGrader {
  grader: string;
  suite: string;
  modules: Record<string, string>;
}

/** `timeout` in milliseconds, for each test and each hook; `root` is an empty folder. */
export interface DirectRun extends PackageSources, CompiledGrader {
  timeout: number;
  root: string;
}

/** The settings that vitest's main process would have sent, as far as its runner and assertions read them. */
function settings(run: DirectRun): Record<string, unknown> {
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

/** The environment variables that vitest sets in its workers. */
export function setEnvironment(): void {
  Object.assign(process.env, {
    TEST: "true",
    VITEST: "true",
    SSR: "1",
    PROD: "",
    DEV: "1",
    BASE_URL: "/",
    MODE: "test",
  });
  Object.assign(process.env, { VITEST_WORKER_ID: "1", VITEST_POOL_ID: "1" });
  process.env.NODE_ENV ??= "test";
}

/** Puts the state of a worker where vitest's modules look for it; returns its settings. */
export function provideWorkerState(run: DirectRun): Record<string, unknown> {
  const config = settings(run);
  const state = {
    config,
    ctx: { pool: "forks", config, projectName: "" },
    environment: { name: "node", transformMode: "ssr" },
    rpc: {
      snapshotSaved: async () => {},
      resolveSnapshotPath: async (file: string) =>
        path.join(path.dirname(file), "__snapshots__", `${path.basename(file)}.snap`),
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
  return config;
}

/** The globals of a test file; `vitest` is what the package of that name exports. */
export function provideGlobals(vitest: Record<string, unknown>): void {
  for (const name of GLOBALS) (globalThis as Record<string, unknown>)[name] = vitest[name];
  Object.assign(globalThis, { __vitest_required__: { util, timers, timersPromises }, __vitest_environment__: "node" });
  Object.defineProperty(globalThis, "__vitest_index__", { value: vitest, enumerable: false });
  (vitest.expect as { setState(state: object): void }).setState({ environment: "node" });
}
