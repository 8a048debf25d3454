/**
 * The code of one call: a context of its own, with the app's modules loaded into it, as in Convex. What modules keep in
 * variables and put on `globalThis` ends with the call, and no other call, component or deployment sees it.
 *
 * Nothing of a context reaches the backend but texts and bytes, which are copied.
 * get-convex/convex-backend crates/isolate/src/context_cache.rs
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { randomInt } from "node:crypto";
import type {
  IsolateApi,
  IsolateKind,
  LoadPhase,
  Reject,
  Resolved,
  SentBody,
  Settle,
  Surroundings,
  SyscallResult,
  View,
} from "../isolate/types.ts";
import type { HttpOutcome, Outcome } from "../outcomes.ts";
import type { LogLevel } from "../runtime_types.ts";
import type { CompiledModules } from "./compiled_modules.ts";
import type { Environment } from "./environment.ts";
import { receivedResponse, sentRequest } from "./http_action.ts";
import { moduleNotFound } from "./modules.ts";
import { CallLife } from "./call_life.ts";
import { freshContext } from "./spare_contexts.ts";
import { checked, errorFor, UNREADABLE } from "./outcome.ts";
import { running, whenEnded } from "./executions.ts";
import { operationName, unawaitedWarning } from "./unawaited.ts";
import { stopCounting } from "./user_clock.ts";
import { UserTime } from "./user_time.ts";
import { bytesOf, copyInto } from "./web/bytes.ts";
import { sendRequest } from "./web/fetch.ts";
import { HOST } from "./web/index.ts";

/** What the app's code calls of the backend; arguments and results are JSON texts. */
export interface Syscalls {
  syscall(op: string, args: string): unknown;
  asyncSyscall(op: string, args: string): Promise<unknown>;
  jsSyscall(op: string, args: object): Promise<unknown>;
}

/** Where an import leads: to a module that was pushed, or to one that is only a value (JSON text). Throws where it leads nowhere. */
export type Resolve = (
  specifier: string,
  importer: string,
) => string | { readonly identifier: string; readonly defaultExport: string };

export interface IsolateOptions {
  readonly kind: IsolateKind;
  readonly modules: CompiledModules;
  readonly resolve: Resolve;
  readonly env: Environment;
  readonly load: LoadPhase;
  /** When the transaction of a query or mutation began, in Unix milliseconds; null for other kinds. */
  readonly transactionMs: number | null;
  readonly missing?: (name: string) => void;
  readonly syscalls: Syscalls;
  log(level: LogLevel, text: string): void;
}

const MAX_SEED = 2 ** 32;

export class Isolate {
  readonly #inside: IsolateApi;
  readonly #life: CallLife;
  readonly #time: UserTime;
  /** Says what an action did not await; null for other kinds, which end with all that they started. */
  readonly #warn: ((unawaited: readonly string[]) => void) | null;

  constructor(options: IsolateOptions) {
    stopCounting();
    const { context, entry } = freshContext();
    const { kind, modules, resolve, env, load, transactionMs, missing, log } = options;
    const time = new UserTime(transactionMs === null ? null : (running.getStore() ?? null));
    const isAction = kind === "action";
    const life = new CallLife(isAction);
    this.#life = life;
    this.#time = time;
    const inCall = AsyncLocalStorage.snapshot();
    this.#warn = isAction ? (names) => inCall(() => log("WARN", unawaitedWarning(names))) : null;
    this.#inside = entry.open({
      kind,
      host: HOST,
      seed: randomInt(MAX_SEED),
      load,
      transactionMs,
      env: JSON.stringify(env),
      missing: missing ?? null,
      resolve: (specifier, importer) => time.outside(() => found(specifier, importer, resolve, modules, context)),
      log,
      ...syscallsFor(options.syscalls, life, time),
      ...outside(life),
    });
  }

  /** What a module exports, as JSON text. */
  async inspect(identifier: string, view: View): Promise<Outcome> {
    return await outcomeOf((settle) => this.#inside.inspect(identifier, view, settle));
  }

  /** Calls a function; `args` and the outcome's value are JSON texts. */
  async invoke(identifier: string, name: string, args: string): Promise<Outcome> {
    whenEnded(() => this.#end());
    return await outcomeOf((settle) =>
      this.#time.inside(() => this.#inside.invoke(identifier, name, args, this.#ending(settle))),
    );
  }

  /** Says what came of a function, unless its time was up by then. An action ends with it, and what it did not await. */
  #ending(settle: Settle): Settle {
    return (outcome) => {
      stopCounting();
      if (this.#time.isUp()) return;
      if (this.#warn) this.#end();
      settle(outcome);
    };
  }

  #end(): void {
    const unawaited = this.#life.end();
    if (unawaited.length > 0) this.#warn?.(unawaited);
  }

  /** Calls the HTTP action of a route; null where the module has none. */
  async fetch(
    identifier: string,
    route: { readonly path: string; readonly method: string },
    request: Request,
  ): Promise<HttpOutcome> {
    const { head, body } = sentRequest(request);
    const given: [head: unknown, body: SentBody][] = [];
    const end = (): void => this.#end();
    let isStreamed = false;
    whenEnded(() => {
      if (!isStreamed) end();
    });
    const outcome = await outcomeOf((settle) =>
      this.#inside.fetch(
        identifier,
        route,
        head,
        body,
        (...response) => void given.push(response),
        (text) => {
          if (!isStream(given[0]?.[1])) end();
          settle(text);
        },
      ),
    );
    if ("error" in outcome) return outcome;
    const response = given[0] ? receivedResponse(...given[0], end) : null;
    isStreamed = response !== null && response.body !== null && isStream(given[0]?.[1]);
    return { response };
  }
}

function isStream(body: SentBody | undefined): boolean {
  return body !== undefined && body !== null && !ArrayBuffer.isView(body);
}

async function outcomeOf(ask: (settle: Settle) => void): Promise<Outcome> {
  return await new Promise<Outcome>((resolve, reject) => {
    try {
      ask((text) => resolve(parsed(text)));
    } catch (error) {
      reject(errorFor(error));
    }
  });
}

function parsed(text: unknown): Outcome {
  try {
    return checked(JSON.parse(String(text)));
  } catch {
    return { error: { message: UNREADABLE } };
  }
}

function found(
  specifier: string,
  importer: string | null,
  resolve: Resolve,
  modules: CompiledModules,
  context: object,
): Resolved {
  try {
    const target = importer === null ? specifier : resolve(specifier, importer);
    if (typeof target !== "string") return target;
    // Bundles name modules with their endings; an import at run time may leave it out.
    const identifier = modules.has(target) ? target : `${target}.js`;
    if (!modules.has(identifier)) return moduleNotFound(target);
    return { identifier, run: modules.in(context, identifier) };
  } catch (error) {
    return messageOf(error);
  }
}

/** The syscalls belong to the call in which the context was made, whichever code of it makes them. */
function syscallsFor(
  syscalls: Syscalls,
  life: CallLife,
  time: UserTime,
): Pick<Surroundings, "syscall" | "asyncSyscall" | "jsSyscall"> {
  const inCall = AsyncLocalStorage.snapshot();
  const start = (op: string, run: () => Promise<() => void>, reject: Reject): void =>
    inCall(() => life.start(operationName(op), run, failing(reject, time)));
  return {
    syscall: (op, args) => {
      try {
        return { value: time.outside(() => String(inCall(() => syscalls.syscall(op, args)))) };
      } catch (error) {
        return failure(error);
      }
    },
    asyncSyscall: (op, args, resolve, reject) => {
      if (life.hasEnded) return;
      const run = async (): Promise<() => void> => {
        const value = String(await syscalls.asyncSyscall(op, args));
        return () => time.inside(() => resolve(value));
      };
      time.outsideLater(() => start(op, run, reject));
    },
    jsSyscall: (op, args, blob, blobType, allocate, resolve, reject) => {
      if (life.hasEnded) return;
      const sent = blob && { blob: new Blob([bytesOf(blob)], { type: blobType }) };
      const run = async (): Promise<() => void> => {
        const value = await syscalls.jsSyscall(op, { ...(JSON.parse(args) as object), ...sent });
        if (!(value instanceof Blob)) return () => resolve(JSON.stringify(value ?? null), null);
        const bytes = new Uint8Array(await value.arrayBuffer());
        return () => {
          copyInto(allocate, bytes);
          resolve("null", value.type);
        };
      };
      start(op, run, reject);
    },
  };
}

function failing(reject: Reject, time: UserTime): (error: unknown) => void {
  return (error) => {
    const { message, data } = failure(error);
    time.inside(() => reject(message, data));
  };
}

function failure(error: unknown): Extract<SyscallResult, { message: string }> {
  const { data } = (error ?? {}) as { data?: unknown };
  return { message: messageOf(error), data: data === undefined ? null : JSON.stringify(data) };
}

function messageOf(error: unknown): string {
  return String((error as { message?: unknown } | null | undefined)?.message);
}

function outside(life: CallLife): Pick<Surroundings, "fetch" | "startTimer" | "clearTimer"> {
  return {
    fetch: (head, body, respond, failed) => {
      if (life.hasEnded) return () => {};
      const isHeard = life.begin("fetch");
      const abort = sendRequest(
        head,
        body,
        (...response) => void (isHeard() && respond(...response)),
        (message) => void (isHeard() && failed(message)),
      );
      life.whenEnded(abort);
      return abort;
    },
    startTimer: (callback, delayMs, repeats) => life.startTimer(callback, delayMs, repeats),
    clearTimer: (id) => life.clearTimer(id),
  };
}
