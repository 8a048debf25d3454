/** What Web IDL asks of the classes of the web, beyond what a class of the language has. */

// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- a class with whatever constructor.
type Class = Function & { readonly prototype: object };

/** Makes the members of a class enumerable, and gives the class its name and its objects their tag. https://webidl.spec.whatwg.org/#es-interfaces */
export function defineInterface(type: Class, name: string): void {
  for (const [target, spared] of [
    [type.prototype, "constructor"],
    [type, "prototype"],
  ] as const) {
    for (const key of Object.getOwnPropertyNames(target)) {
      const own = Object.getOwnPropertyDescriptor(target, key)!;
      const isMember = key !== spared && own.configurable === true && (own.get ?? typeof own.value === "function");
      if (isMember) Object.defineProperty(target, key, { ...own, enumerable: true });
    }
  }
  // A bundler may call the variable something else.
  Object.defineProperty(type, "name", { value: name, configurable: true });
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
}

/** Defines constants on a class and on its objects. https://webidl.spec.whatwg.org/#es-constants */
export function defineConstants(type: Class, constants: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(constants)) {
    for (const target of [type, type.prototype]) Object.defineProperty(target, name, { value, enumerable: true });
  }
}

/** Throws where a function got fewer arguments than it needs. */
export function requireArguments(count: number, required: number, what: string): void {
  if (count >= required) return;
  const needed = `${required} argument${required === 1 ? "" : "s"} required`;
  throw new TypeError(`Failed to execute ${what}: ${needed}, but only ${count} present.`);
}
