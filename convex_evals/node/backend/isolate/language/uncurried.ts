/** Methods as functions, which find what they need whatever the app's code replaces. */

const { call } = Function.prototype;
const bind = call.bind(call.bind) as (method: unknown, self: unknown) => unknown;

/** The method as a function that takes its object first. */
export function uncurried<Self, Args extends readonly unknown[], Result>(
  method: (this: Self, ...args: Args) => Result,
): (self: Self, ...args: Args) => Result {
  return bind(call, method) as (self: Self, ...args: Args) => Result;
}

/** The getter of a property, as a function that takes the object. */
export function getterOf(prototype: object, name: PropertyKey): (self: unknown) => unknown {
  return uncurried(Object.getOwnPropertyDescriptor(prototype, name)!.get!) as (self: unknown) => unknown;
}
