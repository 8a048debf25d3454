/** The forms in which values leave the HTTP API. get-convex/convex-backend crates/value/src/export.rs */

import { HttpError } from "./errors.ts";
import type { JsonValue } from "./runtime_types.ts";

export type ValueFormat = (encoded: JsonValue) => JsonValue;

const FORMATS: Readonly<Record<string, ValueFormat>> = {
  convex_encoded_json: (encoded) => encoded,
  convex_json: (encoded) => encoded,
  json: plain,
  convex_clean_json: plain,
};

/** The format of a request, which is plain JSON where it names none; throws `HttpError` 400. */
export function valueFormat(name: unknown): ValueFormat {
  if (name === undefined || name === null) return plain;
  const format = typeof name === "string" && Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (!format) throw new HttpError(400, "BadFormat", `format param must be one of [\`json\`]. Got ${String(name)}`);
  return format;
}

/** A value for readers that know nothing of Convex: 64-bit integers, bytes and special floats become texts. */
function plain(encoded: JsonValue): JsonValue {
  if (Array.isArray(encoded)) return encoded.map(plain);
  if (typeof encoded !== "object" || encoded === null) return encoded;
  const entries = Object.entries(encoded as Record<string, JsonValue>);
  const [[key, value] = []] = entries;
  if (entries.length === 1 && typeof value === "string") {
    if (key === "$bytes") return value;
    if (key === "$integer") return Buffer.from(value, "base64").readBigInt64LE().toString();
    if (key === "$float") return special(Buffer.from(value, "base64").readDoubleLE());
  }
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}

function special(float: number): JsonValue {
  return Number.isFinite(float) ? float : String(float);
}
