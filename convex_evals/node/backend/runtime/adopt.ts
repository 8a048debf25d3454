/** Values of the host become values of the app's context. */

import type { JsonValue } from "../runtime_types.ts";

// Taken before the app's code runs, which can replace them.
const { defineProperty, keys } = Object;
const { isArray } = Array;

/**
 * The same value without the host's objects, whose classes lead out of the context. Strings are shared: as a text of JSON
 * they would be written and read once more, and graders store megabytes of them.
 */
export function adopted<T extends JsonValue>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) {
    const items: JsonValue[] = [];
    for (let at = 0; at < value.length; at += 1) items[at] = adopted(value[at] as JsonValue);
    return items as T;
  }
  const source: { readonly [name: string]: JsonValue } = value;
  const object: { [name: string]: JsonValue } = {};
  const names = keys(source);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    // As `JSON.parse` does: an own property, whatever its name means elsewhere.
    if (name === "__proto__") {
      defineProperty(object, name, {
        value: adopted(source[name]!),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else object[name] = adopted(source[name]!);
  }
  return object as T;
}
