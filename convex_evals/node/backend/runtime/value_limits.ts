/**
 * Which values there are: https://docs.convex.dev/production/state/limits,
 * get-convex/convex-backend crates/value/src/{array,object,size}.rs
 */

import { CommitTsPlaceholder } from "convex/values";

const MAX_NESTING = 64;
const MAX_ARRAY_LENGTH = 8192;
const MAX_FIELDS = 1024;

/** How deep a value is: 0 for primitives, 1 more than its deepest item otherwise. Throws where a part is too large. */
export function checkedNesting(value: unknown): number {
  const isArray = Array.isArray(value);
  if (!isArray && !isObject(value)) return 0;
  const items: unknown[] = isArray ? value : Object.values(value);
  // The innermost part that is too large is the one that is told of, as it is the first that Convex makes.
  const nesting = 1 + items.reduce<number>((deepest, item) => Math.max(deepest, checkedNesting(item)), 0);
  if (isArray && items.length > MAX_ARRAY_LENGTH) {
    throw new Error(`Array length is too long (${items.length} > maximum length ${MAX_ARRAY_LENGTH})`);
  }
  if (!isArray && items.length > MAX_FIELDS) {
    throw new Error(`Object has too many fields (${items.length} > maximum number ${MAX_FIELDS})`);
  }
  if (nesting > MAX_NESTING) {
    throw new Error(`Value is too nested (nested ${nesting} levels deep > maximum nesting ${MAX_NESTING})`);
  }
  return nesting;
}

/** Throws what `told` makes of the reason where a part of the value is too large. */
export function checkValue(value: unknown, told: (reason: string) => Error): void {
  try {
    checkedNesting(value);
  } catch (error) {
    throw told((error as Error).message);
  }
}

/** Whether a value is an object of Convex: bytes and what a commit will replace are primitives. */
export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !(value instanceof ArrayBuffer || value instanceof CommitTsPlaceholder);
}
