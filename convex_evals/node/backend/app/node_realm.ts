/**
 * "use node" modules run in Node's main realm, with Node's builtins. They share
 * `globalThis` with the backend, so the globals that differ per app are getters
 * that know who is asking.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire, isBuiltin } from "node:module";
import type vm from "node:vm";
import { adoptHostErrors } from "../runtime/host_errors.ts";
import { ModuleGraph, ModuleResolutionError } from "./modules.ts";

/** What the app's node code sees instead of the backend's own globals. */
export interface NodeGlobals {
  readonly process: unknown;
  readonly console: unknown;
  readonly Convex: unknown;
  readonly require: unknown;
}

const inside = new AsyncLocalStorage<NodeGlobals>();
let installed = false;

function installGlobals(): void {
  if (installed) return;
  installed = true;
  adoptHostErrors();
  for (const name of ["process", "console", "Convex", "require"] as const) {
    const outside = (globalThis as Record<string, unknown>)[name];
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => {
        const globals = inside.getStore();
        return globals ? globals[name] : outside;
      },
      set: () => {},
    });
  }
}

/** Globals of one app: Node's, with the app's environment, console and syscalls. */
export function nodeGlobals(env: Record<string, string>, console: unknown, syscalls: () => unknown): NodeGlobals {
  const appProcess: unknown = new Proxy(process, {
    get: (target, key) => {
      if (key === "env") return env;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const load = createRequire(import.meta.url);
  const require = (name: string): unknown => {
    if (isProcess(name)) return appProcess;
    if (isBuiltin(name)) return load(name);
    throw new Error(`Cannot find module '${name}'`);
  };
  return {
    process: appProcess,
    console,
    get Convex() {
      return syscalls();
    },
    require,
  };
}

function isProcess(name: string): boolean {
  return name === "process" || name === "node:process";
}

/** The module graph of one app's "use node" modules. */
export class NodeRealm {
  readonly #globals: NodeGlobals;
  readonly #graph: ModuleGraph;

  /** `resolve` is asked for imports that are not builtins of Node. */
  constructor(globals: NodeGlobals, resolve: (specifier: string, importer: string) => string, load: (path: string) => string) {
    installGlobals();
    this.#globals = globals;
    this.#graph = new ModuleGraph(undefined, (specifier, importer) =>
      isBuiltin(specifier) ? this.#builtin(specifier) : this.#module(resolve(specifier, importer), load),
    );
    this.#load = load;
  }

  readonly #load: (path: string) => string;

  /** Evaluates a module; its functions run inside this realm when they are called. */
  async evaluate(path: string): Promise<Record<string, unknown>> {
    const namespace = await inside.run(this.#globals, () => this.#graph.evaluate(this.#module(path, this.#load)));
    return Object.fromEntries(Object.entries(namespace).map(([name, value]) => [name, this.#wrapped(value)]));
  }

  #module(path: string, load: (path: string) => string): vm.Module {
    return this.#graph.module(path, () => load(path));
  }

  #builtin(specifier: string): vm.Module {
    const require = this.#globals.require as (name: string) => Record<string, unknown>;
    const builtin = require(specifier);
    if (builtin === undefined) throw new ModuleResolutionError(`no builtin module ${specifier}`);
    const names = isProcess(specifier) ? Object.keys(process) : Object.keys(builtin);
    const exports = Object.fromEntries(names.map((name) => [name, builtin[name]]));
    return this.#graph.synthetic(specifier, { ...exports, default: builtin });
  }

  // convex-test calls `_handler`; everything else on a registered function is
  // metadata.
  #wrapped(value: unknown): unknown {
    const handler = (value as { _handler?: unknown } | null | undefined)?._handler;
    if (typeof handler !== "function") return value;
    const enter = (...args: unknown[]): unknown => inside.run(this.#globals, () => handler(...args) as unknown);
    return Object.assign(enter, value, { _handler: enter });
  }
}
