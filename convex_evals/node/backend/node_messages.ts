/** What the backend and the process of an app's "use node" modules say to each other: JSON, over Node's own channel. */

import type { DescribedError, Outcome } from "./outcomes.ts";
import type { LogLevel } from "./runtime_types.ts";

/** In the folder with an app's packages: a module that imports what it is asked for. */
export const PACKAGE_LOADER = "loader.mjs";

/** Bytes of a file, in base64. */
export interface SentBlob {
  readonly type: string;
  readonly bytes: string;
}

export type ToNode =
  | {
      readonly kind: "start";
      readonly sources: Readonly<Record<string, string>>;
      readonly packages: string | null;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "evaluate"; readonly id: number; readonly path: string }
  /** `args`: JSON text of a list with one Convex value. */
  | {
      readonly kind: "invoke";
      readonly id: number;
      readonly path: string;
      readonly name: string;
      readonly args: string;
    }
  | {
      readonly kind: "answer";
      readonly id: number;
      readonly value?: unknown;
      readonly blob?: SentBlob;
      readonly error?: DescribedError;
    }
  | { readonly kind: "ping" };

export type FromNode =
  | { readonly kind: "ready" }
  | { readonly kind: "pong" }
  | { readonly kind: "log"; readonly call: number; readonly level: LogLevel; readonly text: string }
  /** `id` counts the process's syscalls; `call` is the invocation that it belongs to. `args` is JSON text. */
  | {
      readonly kind: "syscall";
      readonly id: number;
      readonly call: number;
      readonly how: "async" | "js";
      readonly op: string;
      readonly args: string;
      readonly blob?: SentBlob;
    }
  | { readonly kind: "outcome"; readonly id: number; readonly outcome: Outcome };
