/** Convex values in their JSON encoding. */

import type { JsonValue } from "../runtime_types.ts";

/** An int64. */
export function int64(value: bigint | number): JsonValue {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return { $integer: bytes.toString("base64") };
}

/** Bytes of a text. */
export function utf8Bytes(text: string): JsonValue {
  return { $bytes: Buffer.from(text, "utf8").toString("base64") };
}

/** Unix nanoseconds of a time in milliseconds. */
export function nanoseconds(ms: number): JsonValue {
  return int64(BigInt(Math.round(ms)) * 1_000_000n);
}
