/** Outcomes as code of the app gives them: it may say anything. */

import type { DescribedError, Outcome } from "../outcomes.ts";

const TEXTS = ["name", "stack", "thrown", "convexData"] as const;

/** What is said of an outcome that the app's code has made a mess of. */
export const UNREADABLE = "The code that ran changed JavaScript's own objects, so that its outcome cannot be read";

/** The outcome, with nothing in it that is not meant for it. */
export function checked(outcome: unknown): Outcome {
  const { value, error } = (outcome ?? {}) as {
    value?: unknown;
    error?: Partial<Record<keyof DescribedError, unknown>>;
  };
  if (typeof value === "string") return { value };
  const texts = TEXTS.flatMap((name) => (typeof error?.[name] === "string" ? [[name, error[name]] as const] : []));
  return { error: { message: String(error?.message ?? UNREADABLE), ...Object.fromEntries(texts) } };
}

/** An error of ours for something that code of the app rejected a promise with, which may do anything when it is looked at. */
export function errorFor(reason: unknown): Error {
  try {
    const { name, message, stack } = (reason ?? {}) as Partial<Record<"name" | "message" | "stack", unknown>>;
    if (message === undefined) return asError({ message: "", thrown: String(reason) });
    return asError({ name: String(name), message: String(message), stack: String(stack) });
  } catch {
    return new Error(UNREADABLE);
  }
}

/** The error of an outcome, for `errorText`. */
export function asError({ message, name, stack, thrown, failure }: DescribedError): Error {
  if (thrown !== undefined) return Object.assign(new Error(`Uncaught ${thrown}`), { failure: "thrown" });
  return Object.assign(
    new Error(message),
    name === undefined ? {} : { name },
    stack === undefined ? {} : { stack },
    failure === undefined ? {} : { failure },
  );
}
