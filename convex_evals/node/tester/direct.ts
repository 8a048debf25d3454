/**
 * Runs one compiled grader, once, on vitest's own runner and assertions, and writes one verdict to an inherited file
 * descriptor.
 *
 *     node tester/direct.ts --suite DIR --packages DIR... --compiled-fd 4 --verdict-fd 3 --test-timeout MS
 *
 * What vitest's workers set up before a test file is set up here; the tester's tests run the same graders both ways. The
 * grader runs in this very process: one that ends it leaves no verdict. The first line of stdin is a token that the
 * verdict repeats; the compiled grader comes through a descriptor. With `--programs-fds A,B` what it starts runs elsewhere
 * (`programs/install.ts`). Nothing that is printed is kept.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, realpathSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs, type ParseArgsConfig } from "node:util";
import type { VitestRunner } from "@vitest/runner";
import { ENDING } from "../code_cache.ts";
import type * as Library from "../grader/library.ts";
import { installHooks, type BundledModules } from "./direct_hooks.ts";
import { LIBRARY } from "./resolution.ts";
import { installPrograms, parseFds } from "./programs/install.ts";
import { useDoors } from "./doors.ts";
import { useServerPorts } from "./server_ports.ts";
import { collectVerdict, withoutHostPaths } from "./tasks.ts";
import { sendVerdict, type ReportedError, type Verdict } from "./verdict.ts";
import type { modules as Vitest } from "./vitest.ts";
import {
  provideGlobals,
  provideWorkerState,
  setEnvironment,
  type CompiledGrader,
  type DirectRun,
} from "./worker_state.ts";

/** What only the whole of vitest can run, and why. */
interface Broken {
  broken: string;
}

/** Node could not link what vite may: nothing of the grader has run then. */
const UNLINKED = new Set([
  ...[
    "ERR_MODULE_NOT_FOUND",
    "ERR_UNSUPPORTED_DIR_IMPORT",
    "ERR_UNKNOWN_FILE_EXTENSION",
    "ERR_IMPORT_ATTRIBUTE_MISSING",
  ],
  ...["ERR_PACKAGE_PATH_NOT_EXPORTED", "ERR_UNSUPPORTED_ESM_URL_SCHEME", "ERR_INVALID_MODULE_SPECIFIER"],
]);

/** Calls back with what vitest would report as unhandled: nobody else listens. */
function watchForErrors(report: (error: ReportedError) => void, processError: (error: unknown) => unknown): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      if (process.listenerCount(event) === 1) report(processError(error) as ReportedError);
    });
  }
}

/** Other modules of the package than ours would bring a second copy of what they share. Texts name files of a project so, too. */
const OTHER_CONVEX = /\b(?:from|import)\s*\(?\s*["']convex\/(?!(?:browser|server|values)["'])/;

async function bundledLibrary(
  texts: Readonly<Record<string, string>>,
  vitest: (typeof Vitest)["vitest"],
): Promise<BundledModules[]> {
  if (Object.values(texts).some((text) => OTHER_CONVEX.test(text))) return [];
  const bundle = new URL(`../grader/library${ENDING}`, import.meta.url).href;
  const { modules, setUp } = (await import(bundle)) as typeof Library;
  // Where the grader imports the library, as the library does itself where it is a file.
  return [{ bundle, modules, onLoad: (name) => name === LIBRARY && setUp(vitest) }];
}

/**
 * Runs the grader where vitest's own worker would, without the process that starts workers: that one brings vite along,
 * and takes ten times as long as a typical grader. What is skipped is the way in; what runs the tests is vitest's.
 *
 *     vitest                                    here
 *     main process: createVitest, vite          the checker has compiled the grader (`compile_grader.ts`)
 *     settings, sent to a forked worker         `worker_state.ts` puts them where vitest's modules look
 *     vite-node asks the main process           `installHooks`: Node asks us where an import leads, and gets the
 *       for each module                           compiled text; packages come from one bundle with compiled code
 *     runner.importFile(grader)                 the same runner, with Node's own `import`
 *     startTests, reported test by test         `startTests`; what it returns is the whole result
 *
 * The order matters. The environment comes before vitest loads, which reads it then; timers are kept before a test can
 * replace them; hooks come before the first import of the grader; globals and `process.exit` last, as our own modules
 * must not depend on them. Where Node cannot link what vite might, nothing of the grader has run: the caller may start it
 * again in the whole vitest, and a test never runs twice.
 */
async function runDirectly(run: DirectRun): Promise<Verdict | Broken> {
  useServerPorts();
  useDoors();
  setEnvironment();
  process.setSourceMapsEnabled(true);
  const config = provideWorkerState(run);
  const bundle = new URL(`./vitest${ENDING}`, import.meta.url).href;
  const { modules } = (await import(bundle)) as { modules: typeof Vitest };
  const { setSafeTimers, getSafeTimers } = modules["@vitest/utils"];
  // Before any test may replace them with false ones.
  setSafeTimers();
  const bundles = ENDING === ".ts" ? [] : [{ bundle, modules }, ...(await bundledLibrary(run.modules, modules.vitest))];
  installHooks(run, run.modules, bundles);
  const { startTests } = modules["@vitest/runner"];
  const { processError } = modules["@vitest/utils/error"];
  const { VitestSnapshotEnvironment } = modules["vitest/snapshot"];
  Object.assign(config.snapshotOptions as object, { snapshotEnvironment: new VitestSnapshotEnvironment() });
  provideGlobals(modules.vitest);

  process.exit = (code = process.exitCode ?? 0) => {
    throw new Error(`process.exit unexpectedly called with "${code}"`);
  };
  const unhandled: ReportedError[] = [];
  watchForErrors((error) => unhandled.push(error), processError);
  const { runner, broken } = runnerOf(modules, config);
  const files = await startTests([{ filepath: run.grader, testLocations: undefined }], runner);
  await new Promise((resolve) => getSafeTimers().setTimeout(resolve));
  return broken() ?? collectVerdict(files, unhandled, run.grader);
}

/** Vitest's runner, with Node's own `import`; `broken`: what Node could not link, if anything. */
function runnerOf(
  modules: typeof Vitest,
  config: Record<string, unknown>,
): { runner: VitestRunner; broken: () => Broken | undefined } {
  const { VitestTestRunner } = modules["vitest/runners"];
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
  return { runner, broken: () => unlinked };
}

/** The first line of stdin, which has nothing more to say to anybody after that. */
function readToken(): string {
  const bytes = Buffer.alloc(256);
  let length = 0;
  while (!bytes.subarray(0, length).includes("\n")) {
    const read = readSync(0, bytes, length, bytes.length - length, null);
    if (read === 0) throw new Error("no token came through stdin");
    length += read;
  }
  return bytes.toString("utf8", 0, length).trim();
}

/** Leaves a descriptor to `/dev/null`, which gets the lowest number that is free. */
function silence(fd: number, flags: string): void {
  closeSync(fd);
  openSync(devNull, flags);
}

function readCompiled(fd: number): CompiledGrader {
  try {
    return JSON.parse(readFileSync(fd, "utf8")) as CompiledGrader;
  } finally {
    closeSync(fd);
  }
}

const OPTIONS = {
  options: {
    suite: { type: "string", default: "." },
    "compiled-fd": { type: "string", default: "4" },
    packages: { type: "string", multiple: true, default: [] },
    "verdict-fd": { type: "string", default: "3" },
    "programs-fds": { type: "string" },
    "test-timeout": { type: "string", default: "60000" },
  },
  // `--packages A B` and `--packages A --packages B` mean the same.
  allowPositionals: true,
} as const satisfies ParseArgsConfig;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs(OPTIONS);
  const exit = process.exit.bind(process);
  const fd = Number(values["verdict-fd"]);
  const token = readToken();
  const compiled = readCompiled(Number(values["compiled-fd"]));
  silence(0, "r");
  silence(1, "w");
  silence(2, "w");
  // A test that waits for nothing must time out, and not end the process.
  setInterval(() => {}, 2 ** 30);
  const root = mkdtempSync(path.join(realpathSync(tmpdir()), "tester-"));
  const programs = parseFds(values["programs-fds"]);
  if (programs) installPrograms(programs, [root]);
  const packages = [...values.packages, ...positionals].map((folder) => path.resolve(folder));
  let result: Verdict | Broken;
  try {
    result = await runDirectly({ ...compiled, packages, timeout: Number(values["test-timeout"]), root });
  } catch (error) {
    // Nothing that a grader does gets here: what vitest keeps of its workers is not as this file expects.
    result = { broken: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  sendVerdict(
    fd,
    token,
    "broken" in result
      ? { tests: [], errors: [], vitest_needed: result.broken }
      : withoutHostPaths(result, compiled.suite),
  );
  exit(0);
}

await main();
