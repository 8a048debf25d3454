/**
 * What scripts of modules export and import by (`isolate_script.ts`). Modules of the language are linked by nothing that a program
 * can replace, and what stands for them here must not be either.
 */

type Getters = Readonly<Record<PropertyKey, () => unknown>>;

/** An object of exports, whose properties are read where they are asked for. */
export type ModuleExports = Readonly<Record<PropertyKey, unknown>>;

export interface ModuleHelpers {
  export(target: object, all: Getters): void;
  reExport(target: object, from: ModuleExports, second?: object): void;
  toCommonJS(exports: ModuleExports): ModuleExports;
  toESM(namespace: ModuleExports): ModuleExports;
}

const { create, defineProperty, freeze, hasOwn } = Object;
const { ownKeys } = Reflect;

/** A property that a getter gives; nothing that the app may have put on `Object.prototype` counts for it. */
export function getter(get: () => unknown): PropertyDescriptor {
  return { __proto__: null, get, enumerable: true } as PropertyDescriptor;
}

function copy(from: ModuleExports, to: object, left?: PropertyKey): void {
  const names = ownKeys(from);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    if (name !== left && !hasOwn(to, name)) {
      defineProperty(
        to,
        name,
        getter(() => from[name]),
      );
    }
  }
}

export const HELPERS: ModuleHelpers = freeze({
  __proto__: null,
  export: freeze((target: object, all: Getters) => {
    const names = ownKeys(all);
    for (let at = 0; at < names.length; at += 1) defineProperty(target, names[at]!, getter(all[names[at]!]!));
  }),
  reExport: freeze((target: object, from: ModuleExports, second?: object) => {
    copy(from, target, "default");
    if (second) copy(from, second, "default");
  }),
  toCommonJS: freeze((exports: ModuleExports) => {
    const made = create(null) as ModuleExports;
    copy(exports, made);
    return made;
  }),
  // All modules are ES modules: an import of all of one is what it exports.
  toESM: freeze((namespace: ModuleExports) => namespace),
} satisfies ModuleHelpers & { __proto__: null });
