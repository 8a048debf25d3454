/**
 * The process in which an app's "use node" modules run. It is not the backend's: what these modules do to their globals
 * and to Node reaches nobody else, and they call the database as on Convex, by syscalls that are texts.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { isBuiltin } from "node:module";
import type vm from "node:vm";
import { relativeIdentifier } from "../push/module_ids.ts";
import { ModuleGraph, ModuleResolutionError, moduleNotFound } from "../realm/modules.ts";
import { described } from "../isolate/described.ts";
import { adoptHostErrors } from "../realm/host_errors.ts";
import { inspectModule } from "../isolate/inspection.ts";
import type { FromNode, SentBlob, ToNode } from "../node_messages.ts";
import type { Outcome } from "../outcomes.ts";
import { nodeConsole } from "./node_console.ts";
import { packagesIn } from "./packages.ts";

const channel = process.send!.bind(process);
const { create } = Object;
const { ownKeys } = Reflect;
const send = (message: FromNode): void => void channel(plain(message));
// The app's code has no channel.
process.send = undefined;

/** A copy without a prototype: no `toJSON` that the app gave to all objects has a part in what is sent. */
function plain<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const copy = create(null) as Record<PropertyKey, unknown>;
  for (const key of ownKeys(value)) copy[key] = plain((value as Record<PropertyKey, unknown>)[key]);
  return copy as T;
}

interface Waiting {
  readonly call: Call;
  readonly how: "async" | "js";
  readonly op: string;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A call of ours, and what belongs to it alone: Convex makes a `console` for each, with timers and counters of its own. */
class Call {
  readonly id: number;
  #console: Console | undefined;

  constructor(id: number) {
    this.id = id;
  }

  get console(): Console {
    return (this.#console ??= nodeConsole((level, text) => send({ kind: "log", call: currentCall().id, level, text })));
  }
}

const OUTSIDE_OF_CALLS = new Call(0);
const current = new AsyncLocalStorage<Call>();
const currentCall = (): Call => current.getStore() ?? OUTSIDE_OF_CALLS;
const waiting = new Map<number, Waiting>();
let syscalls = 0;
let sources: Readonly<Record<string, string>> = {};
let packages = packagesIn(null);

function syscall(how: "async" | "js", op: string, args: string, blob?: SentBlob): Promise<unknown> {
  const id = ++syscalls;
  const call = currentCall();
  return new Promise((resolve, reject) => {
    waiting.set(id, { call, how, op, resolve, reject });
    send({
      kind: "syscall",
      id,
      call: call.id,
      how,
      op,
      args,
      ...(blob ? { blob } : {}),
    });
  });
}

async function jsSyscall(op: string, args: Record<string, unknown>): Promise<unknown> {
  const { blob, ...rest } = args;
  const sent =
    blob instanceof Blob
      ? { type: blob.type, bytes: Buffer.from(await blob.arrayBuffer()).toString("base64") }
      : undefined;
  return await syscall("js", op, JSON.stringify(rest), sent);
}

function installGlobals(): void {
  const globals = {
    Convex: {
      asyncSyscall: (op: string, args: string) => syscall("async", op, args),
      jsSyscall,
      syscall: (op: string) => {
        throw new Error(`\`${op}\` cannot be used in a Node.js action`);
      },
    },
    require: (name: string): unknown => packages.require(name),
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
  Object.defineProperty(globalThis, "console", {
    get: () => currentCall().console,
    set: (value: unknown) =>
      Object.defineProperty(globalThis, "console", { value, writable: true, configurable: true }),
    configurable: true,
  });
  adoptHostErrors();
}

const graph: ModuleGraph = new ModuleGraph(undefined, (specifier, importer) => {
  if (isBuiltin(specifier)) return builtin(specifier);
  return specifier.startsWith(".") ? module(relativeIdentifier(specifier, importer)) : external(specifier);
});

async function external(specifier: string): Promise<vm.Module> {
  return graph.synthetic(specifier, await packages.load(specifier));
}

function module(id: string): vm.Module {
  return graph.module(id, () => {
    const source = Object.hasOwn(sources, id) ? sources[id] : undefined;
    if (source === undefined) throw new ModuleResolutionError(moduleNotFound(id));
    return source;
  });
}

function builtin(specifier: string): vm.Module {
  const whole = process.getBuiltinModule(specifier) as unknown as Record<string, unknown> | undefined;
  if (whole === undefined) throw new ModuleResolutionError(`no builtin module ${specifier}`);
  const exports = Object.fromEntries(Object.keys(whole).map((name) => [name, whole[name]]));
  return graph.synthetic(specifier, { ...exports, default: whole });
}

async function evaluate(id: string): Promise<string> {
  return inspectModule(await graph.evaluate(module(id)));
}

async function invoke(id: string, name: string, args: string): Promise<string> {
  const value = (await graph.evaluate(module(id)))[name] as
    | { invokeAction?: (requestId: string, args: string) => Promise<string> }
    | undefined;
  if (typeof value?.invokeAction !== "function") {
    throw new Error(`There is no action ${name} in ${id.replace(/^convex:\//, "")}`);
  }
  const result = await value.invokeAction("", args);
  warnOfPending(currentCall());
  return result;
}

/** Names what a call has started and not awaited: get-convex/convex-backend npm-packages/node-executor/src/syscalls.ts */
function warnOfPending(call: Call): void {
  const pending = [...waiting.values()].filter((each) => each.call === call && each.how === "async");
  for (const op of new Set(pending.map((each) => each.op))) {
    const name = op
      .replace(/^1\.0\//, "")
      .replace(/^actions\//, "")
      .replace(/^storage/, "storage ");
    call.console.warn(
      `You have an outstanding ${name} call. Operations should be awaited or they might not run. Not awaiting promises might result in unexpected failures. See https://docs.convex.dev/functions/actions#dangling-promises for more information.`,
    );
  }
}

async function answer(id: number, run: () => Promise<string>): Promise<void> {
  let outcome: Outcome;
  try {
    outcome = { value: await current.run(new Call(id), run) };
  } catch (error) {
    outcome = { error: described(error) };
  }
  send({ kind: "outcome", id, outcome });
}

function settle({ id, value, blob, error }: Extract<ToNode, { kind: "answer" }>): void {
  const asked = waiting.get(id);
  waiting.delete(id);
  if (error) {
    asked?.reject(Object.assign(new Error(error.message), error.data === undefined ? {} : { data: error.data }));
  } else asked?.resolve(blob ? new Blob([Buffer.from(blob.bytes, "base64")], { type: blob.type }) : value);
}

function receive(message: ToNode): void {
  switch (message.kind) {
    case "start":
      sources = message.sources;
      packages = packagesIn(message.packages);
      for (const name of Object.keys(process.env)) delete process.env[name];
      Object.assign(process.env, message.env);
      return send({ kind: "ready" });
    case "evaluate":
      return void answer(message.id, () => evaluate(message.path));
    case "invoke":
      return void answer(message.id, () => invoke(message.path, message.name, message.args));
    case "answer":
      return settle(message);
    case "ping":
      return send({ kind: "pong" });
    default:
      message satisfies never;
  }
}

installGlobals();
process.on("message", receive);
process.on("disconnect", () => process.exit(0));
// A promise or timer that the app left dangling is the app's failure, and no reason to end.
const left = (what: string, error: unknown): void =>
  send({ kind: "log", call: OUTSIDE_OF_CALLS.id, level: "ERROR", text: `${what}: ${String(error)}` });
process.on("unhandledRejection", (reason) => left("unhandled rejection", reason));
process.on("uncaughtException", (error) => left("uncaught exception", error));
