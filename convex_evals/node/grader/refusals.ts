/** Calls that must be refused, judged by the fact and never by the wording. */

/** Convex's own words for calls that reached no function; a rule that is "kept" this way is not kept. */
const NO_SUCH_FUNCTION = /^Could not find (public )?function/;
const WRONG_KIND = /^Trying to execute .* as .*, but it is defined as/;
const NOT_REACHED = /fetch failed|ECONNREFUSED|ECONNRESET|did not return within/;
/** An error that the function itself brought about, its own failed `fetch` included. */
const BY_THE_SERVER = /\[Request ID: |Server Error|Uncaught /;
const INVALID_ARGUMENTS = /^ArgumentValidationError: /;
/** What clients and the server put before it. */
const LEAD_IN =
  /^(The call of `[^`\n]*` failed: )?(\[CONVEX [QMA]\([^)\n]*\)\] )?(\[Request ID: \w+\] )?(Server Error\n)?/;

/** The server's words for an error. What a function throws comes after `Uncaught`, whatever it says. */
function serverWords(message: string): string {
  return message.replace(LEAD_IN, "");
}

function isReached(message: string): boolean {
  const words = serverWords(message);
  if (NO_SUCH_FUNCTION.test(words) || WRONG_KIND.test(words)) return false;
  return !NOT_REACHED.test(message) || BY_THE_SERVER.test(message);
}

export interface Refusal {
  /**
   * Who must refuse: `arguments` for the function's argument validators (nothing of its code may run),
   * `code` for the function's own code, `anyone` (the default) for either.
   */
  by?: "anyone" | "arguments" | "code";
}

/**
 * Asserts that a call is refused, and returns the error.
 *
 * `rule` is the broken rule in the task's words and opens every message: "Sending an empty message must be refused".
 * A missing function, a function of another kind and a backend that cannot be reached are no refusals. Give a function
 * where calls are listed first and awaited later: a promise that fails before somebody waits for it ends the grader.
 */
export async function expectError(
  call: Promise<unknown> | (() => Promise<unknown>),
  rule: string,
  { by = "anyone" }: Refusal = {},
): Promise<Error> {
  const settled = await started(call).then(
    (value) => ({ refused: false as const, value }),
    (reason: unknown) => ({
      refused: true as const,
      error: reason instanceof Error ? reason : new Error(String(reason)),
    }),
  );
  if (!settled.refused) {
    const returned = settled.value === undefined ? "" : ` and returned ${shown(settled.value)}`;
    throw new Error(`${rule}, but the call succeeded${returned}`);
  }
  const { error } = settled;
  if (!isReached(error.message)) {
    throw new Error(`${rule} by the function itself, but the call never reached it: ${error.message}`, {
      cause: error,
    });
  }
  const invalidArguments = INVALID_ARGUMENTS.test(serverWords(error.message));
  if (by === "arguments" && !invalidArguments) {
    throw new Error(
      `${rule} by argument validators, before any code of the function runs; it failed later: ${error.message}`,
      { cause: error },
    );
  }
  if (by === "code" && invalidArguments) {
    throw new Error(`${rule} by the function's code, which must accept these arguments: ${error.message}`, {
      cause: error,
    });
  }
  return error;
}

/** Asserts that a client without authentication cannot call a function: it must not be public. */
export async function expectNotCallable(call: Promise<unknown>, rule: string): Promise<void> {
  const message = await call.then(
    () => undefined,
    (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
  );
  if (message === undefined) throw new Error(`${rule}, but a client without authentication could call it`);
  if (!NO_SUCH_FUNCTION.test(serverWords(message))) {
    throw new Error(`${rule}, but a client without authentication reached it: ${message}`);
  }
}

function started(call: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> {
  return typeof call === "function" ? call() : call;
}

function shown(value: unknown): string {
  const text =
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner)) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
