/** What `import()` gives, for a module that is a script. */

const { create, defineProperty, preventExtensions } = Object;
const { ownKeys } = Reflect;
const sort = Function.prototype.call.bind(Array.prototype.sort) as (names: PropertyKey[]) => PropertyKey[];
const tag = Symbol.toStringTag;

/** A module namespace with the exports of a script, which are read where they change. */
export function namespaceOf(exports: object): object {
  const namespace = create(null) as object;
  const names = sort(ownKeys(exports));
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    if (name === "__esModule") continue;
    // Nothing can be set: a namespace is read-only.
    defineProperty(namespace, name, { get: () => (exports as Record<PropertyKey, unknown>)[name], enumerable: true });
  }
  defineProperty(namespace, tag, { value: "Module" });
  return preventExtensions(namespace);
}
