/**
 * What crosses the border between the host and the context of one call: texts, functions that only `entry.ts` holds, and
 * objects of the web's classes, which all contexts share and which cannot be changed.
 */

import type { LogLevel } from "../runtime_types.ts";

/** What runs in a context: one function's call, or the look at a module when it is pushed. */
export type IsolateKind = "query" | "mutation" | "action" | "analysis";

/** What is asked of a module when it is pushed. */
export type View = "module" | "definition" | "schema" | "authConfig";

/** A module as a function of the context that it was run in. */
export type ModuleFunction = (
  require: (specifier: string) => object,
  module: { exports: object },
  exports: object,
  meta: object,
) => void;

/** A module that an import leads to; a text says why it leads nowhere. */
export type Resolved =
  | string
  | {
      readonly identifier: string;
      readonly run: ModuleFunction;
    }
  /** A module whose default export is this JSON text. */
  | { readonly identifier: string; readonly defaultExport: string };

type Reject = (message: string, data: string | null) => void;

/** What an `AsyncLocalStorage` of a context keeps at the host. */
export interface HostStorage {
  run(store: unknown, call: () => void): void;
  enterWith(store: unknown): void;
  disable(): void;
  getStore(): unknown;
}

/** Runs `call` with the stores of the moment at which the snapshot was taken. */
export type RunInSnapshot = (call: () => void) => void;

export interface AsyncHost {
  openStorage(): HostStorage;
  snapshot(): RunInSnapshot;
}

/** What the classes of the web ask of the host; see `host.ts` for what may cross. */
export interface Host {
  readonly async: AsyncHost;
}

/** What a context is given. None of these throws. */
export interface Surroundings {
  readonly host: Host;
  readonly kind: IsolateKind;
  readonly seed: number;
  /** JSON text of the variables. */
  readonly env: string;
  /** Told of the variables that are read and not there. */
  readonly missing: ((name: string) => void) | null;
  resolve(specifier: string, importer: string | null): Resolved;
  log(level: LogLevel, text: string): void;
  syscall(op: string, args: string): SyscallResult;
  asyncSyscall(op: string, args: string, resolve: (value: string) => void, reject: Reject): void;
  jsSyscall(op: string, args: string, blob: unknown, resolve: (value: unknown) => void, reject: Reject): void;
  fetch(args: readonly unknown[], resolve: (response: Response) => void, reject: (error: unknown) => void): void;
  startTimer(callback: () => void, delayMs: number, repeats: boolean): number;
  clearTimer(id: number): void;
}

export type SyscallResult = { readonly value: string } | { readonly message: string; readonly data: string | null };

/** Called once, with the JSON text of an `Outcome`. */
export type Settle = (outcome: string) => void;

/** What the host asks of a context. */
export interface IsolateApi {
  /** `identifier`s are those of modules. */
  inspect(identifier: string, view: View, settle: Settle): void;
  invoke(identifier: string, name: string, args: string, settle: Settle): void;
  /** `respond` gets what the HTTP action returns, or null where the app's router has no route. */
  fetch(
    identifier: string,
    route: { readonly path: string; readonly method: string },
    request: Request,
    respond: (response: unknown) => void,
    settle: Settle,
  ): void;
}

/** What the script of `entry.ts` exports. */
export interface IsolateEntry {
  open(surroundings: Surroundings): IsolateApi;
}
