/** What a grader and the process that shows the page say to each other. */

export type PageCommand =
  | { kind: "start"; app: string; backend: string }
  | { kind: "texts"; selector: string }
  | { kind: "values"; selector: string }
  | { kind: "states"; selector: string }
  | { kind: "fill"; selector: string; value: string }
  | { kind: "click"; selector: string }
  | { kind: "errors" };

export interface PageQuestion {
  id: number;
  command: PageCommand;
}

export type PageReply = { id: number; ok: true; values: string[] } | { id: number; ok: false; message: string };

/** All texts of one reply together, in characters. */
const LONGEST_REPLY = 1_000_000;

/** The reply that a message is; undefined where it is none. What is too long is an error. */
export function parseReply(said: unknown): PageReply | undefined {
  const { id, ok, values, message } = Object(said) as Record<string, unknown>;
  if (typeof id !== "number") return undefined;
  if (ok !== true) return { id, ok: false, message: String(message).slice(0, 5000) };
  if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) return undefined;
  const length = values.reduce((total, value) => total + value.length, 0);
  return length > LONGEST_REPLY
    ? { id, ok: false, message: `The page shows more than ${LONGEST_REPLY} characters` }
    : { id, ok: true, values };
}
