/** What the app's code throws, as text for the host: an object of it would take the app's code along. */

import type { DescribedError } from "../outcomes.ts";
import { inspect } from "./inspect_value.ts";

export function described(error: unknown): DescribedError {
  if (typeof error !== "object" || error === null || (error as Error).message === undefined) {
    return { message: "", thrown: inspect(error) };
  }
  const { name, message, stack, data } = error as Error & { data?: unknown };
  // The library has made a text of the data on its way out of the function.
  const isConvexError = Symbol.for("ConvexError") in error && typeof data === "string";
  return {
    name: typeof name === "string" && name !== "" ? name : "Error",
    message: String(message),
    stack: String(stack),
    ...(isConvexError ? { convexData: data } : {}),
  };
}
