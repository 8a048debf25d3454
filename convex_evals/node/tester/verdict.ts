/** The verdict on one grader run: what is in it, and how it leaves the process. */
import { closeSync, writeSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** One test; `name` holds the names of its suites and its own, joined by " > ". */
export interface TestVerdict {
  name: string;
  outcome: "passed" | "failed" | "skipped";
  message: string | null;
  duration_ms: number;
}

/**
 * What went wrong outside any test: while the grader loaded or in a hook, or nobody's promise. `file` (relative to the
 * suite) and `line` are null unless the grader itself is to blame.
 */
export interface RunError {
  phase: "collect" | "unhandled";
  message: string;
  file: string | null;
  line: number | null;
}

export interface Verdict {
  tests: TestVerdict[];
  errors: RunError[];
  /** Why only the whole of vitest can run the grader, of which nothing has run. */
  vitest_needed?: string;
}

/** An error as vitest reports it from a worker. */
export interface ReportedError {
  name?: string | undefined;
  message?: string | undefined;
  stack?: string | undefined;
  diff?: string | undefined;
}

/** The message where a grader's process ended without a result. */
export const ENDED_EARLY = "the run ended before the grader did: the grader may have ended its own process";

const MAX_MESSAGE = 4_000;

function cut(text: string): string {
  const plain = stripVTControlCharacters(text).trim();
  return plain.length > MAX_MESSAGE ? `${plain.slice(0, MAX_MESSAGE - 1)}…` : plain;
}

/** The first place in the grader that the stack passes through. */
function placeInGrader(error: ReportedError, grader: string): { line: number; column: number } | undefined {
  const at = error.stack?.split("\n").find((frame) => frame.includes(`${grader}:`));
  const match = at?.slice(at.indexOf(`${grader}:`) + grader.length).match(/^:(\d+):(\d+)/);
  return match ? { line: Number(match[1]), column: Number(match[2]) } : undefined;
}

function describe(error: ReportedError): string {
  const message = error.message ?? "";
  const head =
    error.name && error.name !== "Error" && !message.startsWith(error.name) ? `${error.name}: ${message}` : message;
  return error.diff ? `${head}\n\n${error.diff}` : head;
}

/** The text of a failed test: every error with its expected and received values, and where in the grader it is. */
export function failureMessage(errors: readonly ReportedError[], grader: string): string {
  const name = grader.slice(grader.lastIndexOf("/") + 1);
  const texts = errors.map((error) => {
    const place = placeInGrader(error, grader);
    return place ? `${describe(error)}\n\n    at ${name}:${place.line}:${place.column}` : describe(error);
  });
  return cut(texts.join("\n\n") || "failed without an error");
}

/** An error outside any test; `file` is null unless the grader itself is on the stack. */
export function runError(phase: RunError["phase"], error: ReportedError, grader: string): RunError {
  const place = placeInGrader(error, grader);
  return {
    phase,
    message: cut(describe(error) || "an error without a message"),
    file: place ? grader : null,
    line: place?.line ?? null,
  };
}

// Before a grader, or a project that it imports, may put something else in their places.
const write = writeSync;
const { stringify } = JSON;
const bytesOf = Buffer.from;

/** Writes the one document that the caller waits for, and closes the descriptor. */
export function sendVerdict(fd: number, token: string, verdict: Verdict): void {
  const bytes = bytesOf(`${stringify({ kind: "verdict", token, ...verdict })}\n`);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += write(fd, bytes, sent);
    } catch (error) {
      // A full pipe that does not block: the reader is slow, not gone.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  closeSync(fd);
}
