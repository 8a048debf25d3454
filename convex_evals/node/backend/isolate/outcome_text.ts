/** What came of code of the app, as text for the host: made by nothing that the app's code may have changed. */

import { described } from "./described.ts";

const { stringify } = JSON;
const { hasOwn } = Object;
const { ownKeys } = Reflect;

/** The inside of a JSON object of texts, without what is no text: no `toJSON` that the app gave to all objects has a part in it. */
export function pairsOf(texts: object): string {
  let text = "";
  const names = ownKeys(texts);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    const value = hasOwn(texts, name) ? (texts as Record<PropertyKey, unknown>)[name] : undefined;
    if (typeof value === "string") text += `${text === "" ? "" : ","}${stringify(name)}:${stringify(value)}`;
  }
  return text;
}

/** An `Outcome` with this value. */
export function valueText(value: string): string {
  return `{"value":${stringify(value)}}`;
}

/** An `Outcome` with what was thrown; with nothing of it, where it cannot be read. */
export function errorText(error: unknown): string {
  let pairs = "";
  try {
    pairs = pairsOf(described(error));
  } catch {
    // The host has words for it.
  }
  return `{"error":{${pairs}}}`;
}
