/** JSON that others sent. */

import { MAX_JSON_LEVELS } from "./request_limits.ts";

/** Parses a text; throws `SyntaxError`, also where its levels are too many for what walks through them afterwards. */
export function parseJson(text: string): unknown {
  if (isDeeper(text, MAX_JSON_LEVELS)) throw new SyntaxError(`it is nested more than ${MAX_JSON_LEVELS} levels deep`);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

// Of a text that is no JSON it may say either: parsing fails before the brackets that it has miscounted.
function isDeeper(text: string, levels: number): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++open > levels) return true;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open--;
        break;
    }
  }
  return false;
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
