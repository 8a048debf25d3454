/**
 * `AsyncLocalStorage` and `AsyncResource`, which the official bundler makes `node:async_hooks` of.
 *
 * The host keeps the stores, as it alone can follow a call through its promises; its objects stay in private fields.
 * get-convex/convex-backend npm-packages/udf-runtime/src/04_async_hooks.ts
 */

import { asyncHost } from "../host.ts";
import type { HostStorage, RunInSnapshot } from "../types.ts";

type Fn<This, Args extends unknown[], Result> = (this: This, ...args: Args) => Result;

function checkedFunction<F>(fn: F): F {
  if (typeof fn !== "function") throw new TypeError("fn must be a function");
  return fn;
}

export class AsyncLocalStorage<T = unknown> {
  readonly #storage: HostStorage = asyncHost().openStorage();

  static bind<Args extends unknown[], Result>(fn: Fn<unknown, Args, Result>): Fn<unknown, Args, Result> {
    checkedFunction(fn);
    const inSnapshot = AsyncLocalStorage.snapshot();
    return (...args: Args) => inSnapshot(fn, ...args);
  }

  static snapshot(): <Args extends unknown[], Result>(fn: Fn<unknown, Args, Result>, ...args: Args) => Result {
    const run = asyncHost().snapshot();
    return (fn, ...args) =>
      resultOf(
        (call) => run(call),
        () => fn(...args),
      );
  }

  run<Args extends unknown[], Result>(store: T, callback: Fn<unknown, Args, Result>, ...args: Args): Result {
    const storage = this.#storage;
    return resultOf(
      (call) => storage.run(store, call),
      () => callback(...args),
    );
  }

  exit<Args extends unknown[], Result>(callback: Fn<unknown, Args, Result>, ...args: Args): Result {
    return this.run(undefined as T, callback, ...args);
  }

  enterWith(store: T): void {
    this.#storage.enterWith(store);
  }

  disable(): void {
    this.#storage.disable();
  }

  getStore(): T | undefined {
    return this.#storage.getStore() as T | undefined;
  }
}

export class AsyncResource {
  readonly type: string;
  readonly #run: RunInSnapshot = asyncHost().snapshot();

  constructor(type: string) {
    if (typeof type !== "string") throw new TypeError("type must be a string");
    this.type = type;
  }

  static bind<This, Args extends unknown[], Result>(
    fn: Fn<This, Args, Result>,
    type?: string,
    thisArg?: This,
  ): Fn<This, Args, Result> {
    return new AsyncResource(type || fn.name || "bound-anonymous-fn").bind(fn, thisArg);
  }

  runInAsyncScope<This, Args extends unknown[], Result>(
    fn: Fn<This, Args, Result>,
    thisArg?: This,
    ...args: Args
  ): Result {
    const run = this.#run;
    return resultOf(
      (call) => run(call),
      () => Reflect.apply(fn, thisArg as This, args),
    );
  }

  bind<This, Args extends unknown[], Result>(fn: Fn<This, Args, Result>, thisArg?: This): Fn<This, Args, Result> {
    checkedFunction(fn);
    const run = this.#run;
    return function (this: This, ...args: Args): Result {
      return resultOf(
        (call) => run(call),
        () => Reflect.apply(fn, thisArg ?? this, args),
      );
    };
  }
}

/** What `call` returns or throws, run by a function of the host through which neither may pass. */
function resultOf<Result>(run: (call: () => void) => void, call: () => Result): Result {
  let outcome: { readonly value: Result } | { readonly error: unknown } | undefined;
  try {
    run(() => {
      try {
        outcome = { value: call() };
      } catch (error) {
        outcome = { error };
      }
    });
  } catch {
    // The host throws nothing of its own, but may find the stack used up.
  }
  if (!outcome) throw new RangeError("Maximum call stack size exceeded");
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
