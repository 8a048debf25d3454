/** JSON that others sent, read as serde_json reads it: JSON.parse knows neither its limit of levels nor its strings. */

import { MAX_JSON_LEVELS } from "./request_limits.ts";

/** Parses a text; throws `SyntaxError`, also where its levels are too many for what walks through them afterwards. */
export function parseJson(text: string): unknown {
  if (tooDeepAt(text) >= 0) throw new SyntaxError(`it is nested more than ${MAX_JSON_LEVELS} levels deep`);
  return JSON.parse(text);
}

interface Problem {
  readonly reason: string;
  /** How much of the text serde_json has read when it gives up. */
  readonly end: number;
}

/** Why serde_json refuses a text that is JSON, in its words, or null. */
export function jsonProblem(text: string): string | null {
  if (!text.isWellFormed()) return "invalid unicode code point";
  const bracket = tooDeepAt(text);
  const deep: Problem | null = bracket < 0 ? null : { reason: "recursion limit exceeded", end: bracket + 1 };
  const string = SURROGATE.test(text) ? loneSurrogate(text) : null;
  const problem = deep && string ? (deep.end < string.end ? deep : string) : (deep ?? string);
  if (problem === null) return null;
  const lines = text.slice(0, problem.end).split("\n");
  return `${problem.reason} at line ${lines.length} column ${utf8Length(lines.at(-1)!)}`;
}

// One that is escaped: in texts of JSON.stringify, none that is alone is there as itself.
const SURROGATE = /\\u[dD][89a-fA-F]/;
const ESCAPE = /\\(?:u([dD][89abAB][\da-fA-F]{2})(\\u[dD][c-fC-F][\da-fA-F]{2})?|u([dD][c-fC-F][\da-fA-F]{2})|.)/gs;
const UNPAIRED = "lone leading surrogate in hex escape";
const UNFINISHED = "unexpected end of hex escape";

// https://github.com/serde-rs/json/blob/master/src/read.rs (parse_unicode_escape)
function loneSurrogate(text: string): Problem | null {
  for (const { 0: escape, 1: high, 2: itsLow, 3: low, index } of text.matchAll(ESCAPE)) {
    const end = index + escape.length;
    if (low !== undefined) return { reason: UNPAIRED, end };
    if (high === undefined || itsLow !== undefined) continue;
    if (text.startsWith("\\u", end)) return { reason: UNPAIRED, end: end + "\\uXXXX".length };
    return { reason: UNFINISHED, end: end + (text[end] === "\\" ? 2 : 1) };
  }
  return null;
}

function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

// Where the first level too many begins, or -1. Of a text that is no JSON it may say either: parsing fails before the
// brackets that it has miscounted.
function tooDeepAt(text: string): number {
  if (text.length <= MAX_JSON_LEVELS) return -1;
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++open > MAX_JSON_LEVELS) return at;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open--;
        break;
    }
  }
  return -1;
}

/** Where the string ends that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
