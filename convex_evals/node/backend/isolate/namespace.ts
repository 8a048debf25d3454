/** What `import()` gives, for a module that is a script. */

import { getter, type ModuleExports } from "./module_helpers.ts";

const { create, defineProperty, preventExtensions } = Object;
const { apply, ownKeys } = Reflect;
const { sort } = Array.prototype;
const tag = Symbol.toStringTag;

/** A module namespace with the exports of a script, which are read where they change. */
export function namespaceOf(exports: ModuleExports): object {
  const namespace = create(null) as object;
  const names = ownKeys(exports);
  apply(sort, names, []);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    // Nothing can be set: a namespace is read-only.
    defineProperty(
      namespace,
      name,
      getter(() => exports[name]),
    );
  }
  defineProperty(namespace, tag, { __proto__: null, value: "Module" } as PropertyDescriptor);
  return preventExtensions(namespace);
}
