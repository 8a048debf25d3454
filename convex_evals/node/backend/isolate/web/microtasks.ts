/** `queueMicrotask`. */

import { asked } from "../host.ts";

export function queueMicrotask(callback: () => void): void {
  if (typeof callback !== "function") throw new TypeError("queueMicrotask: the callback must be a function");
  void calledSoon(callback);
}

async function calledSoon(callback: () => void): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/await-thenable -- the app's `then` has no say in it
  await null;
  try {
    callback();
  } catch (error) {
    const message = messageOf(error);
    asked((host) => host.reportUncaught(message));
  }
}

function messageOf(error: unknown): string {
  try {
    const { message } = (error ?? {}) as { message?: unknown };
    return message === undefined ? `Uncaught ${String(error)}` : String(message);
  } catch {
    return "Uncaught";
  }
}
