/** How an error of the app's code reads to a client. */

import { convexToJson, type Value } from "convex/values";
import { host } from "embedded:host";
import type { FailedCall, FailedHttpAction, JsonValue } from "../runtime_types.ts";
import { inspect } from "../isolate/inspect_value.ts";

/** "Uncaught Error: boom\n    at handler (../convex/messages.ts)", as Convex writes it. */
export function errorText(error: unknown): string {
  return `${messageText(error)}${stackFrames(error)}`.toWellFormed();
}

/** The text without the frames. */
function messageText(error: unknown): string {
  if (typeof error !== "object" || error === null) return `Uncaught ${inspect(error)}`;
  const { failure, message } = error as { failure?: unknown; message?: unknown };
  if (typeof failure === "string") return String(message);
  if (isConvexError(error)) return `Uncaught ConvexError: ${String(message)}`;
  if (message === undefined) return `Uncaught ${inspect(error)}`;
  return `Uncaught ${errorName(error)}: ${String(message)}`;
}

/** The result that a failed call reports. */
export function failedResult(error: unknown): FailedCall {
  const errorMessage = errorText(error);
  if (typeof error !== "object" || error === null) return { ok: false, errorMessage };
  if (isConvexError(error)) return { ok: false, errorMessage, errorData: dataOf(error) };
  const { refusal } = error as { refusal?: unknown };
  return { ok: false, errorMessage, ...(typeof refusal === "string" ? { refusal } : {}) };
}

/** What a failed HTTP action reports. */
export function failedHttpAction(error: unknown): FailedHttpAction {
  return { ...failedResult(error), title: messageText(error).toWellFormed() };
}

/** Rethrows what a called function threw as the library expects it from a syscall: data in JSON. */
export async function acrossSyscall<T>(call: Promise<T>): Promise<T> {
  return await dataAcrossSyscall(host.called(call));
}

/** The same for a function that an action calls, and that is no part of it. */
export async function dataAcrossSyscall<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (typeof error !== "object" || error === null || !isConvexError(error)) throw error;
    throw Object.assign(new Error((error as unknown as Error).message), { data: dataOf(error) });
  }
}

/** For failures that no client waits for. */
export function reportBackgroundError(what: string, error: unknown): void {
  host.log("ERROR", `${what} failed: ${errorText(error)}`);
}

// The app bundles its own copy of the class; the registered symbol is what the
// copies have in common.
function isConvexError(error: object): error is { data: unknown } {
  return Symbol.for("ConvexError") in error;
}

function dataOf(error: { data: unknown }): JsonValue {
  try {
    return convexToJson((error.data ?? null) as Value);
  } catch {
    return null;
  }
}

function errorName(error: object): string {
  const { name } = error as { name?: unknown };
  return typeof name === "string" && name !== "" ? name : "Error";
}

// By these the library in the app's bundle calls handlers.
const INVOKING = /^\s+at (async )?([\w.]+\.)?invoke(Function|Query|Mutation|Action|HttpAction)\b/;

// Frames of the app's own modules only; what lies below is our machinery.
function stackFrames(error: unknown): string {
  if (typeof error !== "object" || error === null || isConvexError(error)) return "";
  const { stack, failure, message } = error as { stack?: unknown; failure?: unknown; message?: unknown };
  if (typeof stack !== "string" || typeof failure === "string" || message === undefined) return "";
  const frames = stack.split("\n").filter((line) => /^\s+at .*convex:\//.test(line) && !INVOKING.test(line));
  return frames.map((frame) => `\n${frame.replace("convex:/", "../convex/")}`).join("");
}
