/**
 * node --experimental-vm-modules --disable-warning=ExperimentalWarning backend/main.ts
 *     [--port N] [--site-port N] [--ready-fd N] [--exit-with-stdin] [--log] [--data DIR]
 *     [--control-fd N] [--listen-fd N]... [--listen-site-fd N]...
 *
 * A socket given with --control-fd is served from the start: whoever started us may be outside of our network. Then
 * nothing is deployed but by it, and the admin key is of no use on the ports, which a graded project reaches.
 * Sockets given with --listen-fd, and for HTTP actions with --listen-site-fd, are for clients that may use the admin key.
 * They are served once something is deployed: clients that connect earlier wait until then.
 * With --data, what is deployed and what is written is kept in DIR, and there again at the next start. Whoever starts us sees
 * to it that nobody else uses DIR.
 */

import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import vm from "node:vm";
import { lockHost } from "./realm/host_lock.ts";
import { releaseMemorySoon } from "./app/idle_memory.ts";
import { errorFor } from "./realm/outcome.ts";
import { reportRejection } from "./realm/executions.ts";
import { stopWatching } from "./realm/watchdog.ts";
import { EVERYTHING, FOR_PROJECT, FOR_TESTER } from "./doors.ts";
import { startBackend, type Backend } from "./server.ts";
import { BACKEND_VERSION } from "./versions.ts";

export { startBackend, type Backend, type BackendOptions } from "./server.ts";

const EXIT_USAGE = 2;
const EXIT_STORAGE = 3;
const STDOUT = 1;

interface Options {
  readonly port: number;
  readonly sitePort: number;
  readonly readyFd: number;
  readonly exitWithStdin: boolean;
  readonly log: boolean;
  readonly data: string | undefined;
  readonly controlFd: number | undefined;
  readonly listenFds: readonly number[];
  readonly listenSiteFds: readonly number[];
}

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      "site-port": { type: "string", default: "0" },
      "ready-fd": { type: "string", default: String(STDOUT) },
      "exit-with-stdin": { type: "boolean", default: false },
      log: { type: "boolean", default: false },
      data: { type: "string" },
      "control-fd": { type: "string" },
      "listen-fd": { type: "string", multiple: true, default: [] },
      "listen-site-fd": { type: "string", multiple: true, default: [] },
    },
  });
  return {
    port: integer("--port", values.port),
    sitePort: integer("--site-port", values["site-port"]),
    readyFd: integer("--ready-fd", values["ready-fd"]),
    exitWithStdin: values["exit-with-stdin"],
    log: values.log,
    data: values.data,
    controlFd: values["control-fd"] === undefined ? undefined : integer("--control-fd", values["control-fd"]),
    listenFds: values["listen-fd"].map((text) => integer("--listen-fd", text)),
    listenSiteFds: values["listen-site-fd"].map((text) => integer("--listen-site-fd", text)),
  };
}

function integer(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new Error(`${option} must be a number from 0 to 65535, got ${text}`);
  }
  return value;
}

async function main(): Promise<void> {
  if (!("SourceTextModule" in vm)) {
    throw new Error("start with: node --experimental-vm-modules --disable-warning=ExperimentalWarning backend/main.ts");
  }
  const options = parseOptions();
  const log = (line: string): void => void (options.log && process.stderr.write(`${line}\n`));
  // App code must find nothing of the parent's environment, however it gets at
  // the real `process`.
  for (const name of Object.keys(process.env)) delete process.env[name];
  // A promise or timer that the app left dangling is the app's failure, not ours.
  process.on(
    "unhandledRejection",
    (reason) => void (reportRejection(reason) || log(`unhandled rejection: ${errorFor(reason).message}`)),
  );
  process.on("uncaughtException", (error) => log(`uncaught exception: ${errorFor(error).message}`));
  if (options.exitWithStdin) exitWithStdin();
  process.once("SIGTERM", exit).once("SIGINT", exit);
  lockHost();
  const backend = await startBackend({
    port: options.port,
    sitePort: options.sitePort,
    onLog: log,
    door: options.controlFd === undefined ? EVERYTHING : FOR_PROJECT,
    ...(options.data === undefined ? {} : { data: { folder: options.data, onFatal: exitWith, onWarning: complain } }),
  });
  if (options.controlFd !== undefined) await backend.listenOn(options.controlFd, EVERYTHING);
  const ready = { kind: "ready", port: backend.port, site_port: backend.sitePort, version: BACKEND_VERSION };
  writeSync(options.readyFd, `${JSON.stringify(ready)}\n`);
  // The first push comes soon; what it needs is loaded while its sender bundles.
  await backend.app.prepare();
  releaseMemorySoon();
  backend.app.onDeployed(releaseMemorySoon);
  openOnceDeployed(backend, options);
}

function openOnceDeployed(backend: Backend, { listenFds, listenSiteFds }: Options): void {
  let open = false;
  const openAll = (): void => {
    if (open) return;
    open = true;
    for (const fd of listenFds) backend.listenOn(fd, FOR_TESTER).catch(exit);
    for (const fd of listenSiteFds) backend.listenForSiteOn(fd, FOR_TESTER).catch(exit);
  };
  if (backend.app.deployment) openAll();
  else backend.app.onDeployed(openAll);
}

function complain(line: string): void {
  process.stderr.write(`backend: ${line}\n`);
}

function exitWith(line: string): never {
  complain(line);
  process.exit(EXIT_STORAGE);
}

let exiting = false;

function exit(): void {
  if (exiting) return;
  exiting = true;
  void stopWatching().finally(() => process.exit(0));
}

function exitWithStdin(): void {
  process.stdin.on("end", exit).on("error", exit).on("close", exit).resume();
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    complain(error instanceof Error ? error.message : String(error));
    process.exit(EXIT_USAGE);
  });
}
