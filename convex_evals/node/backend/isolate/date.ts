/** `Date`, and what else of the language asks for the time, on a clock that is given. */

/**
 * What becomes `globalThis.Date`. Without arguments it asks its own `now`, which the app may replace; what it makes are plain
 * dates, whoever extends it.
 * get-convex/convex-backend npm-packages/udf-runtime/src/00_date.ts
 */
export function dateOn(now: () => number): DateConstructor {
  const Native = Date;
  const { prototype, parse, UTC } = Native;
  function OnClock(this: unknown, ...args: readonly unknown[]): unknown {
    if (!(this instanceof OnClock)) return new Native(OnClock.now()).toString();
    return args.length === 0 ? new Native(OnClock.now()) : Reflect.construct(Native, args);
  }
  OnClock.now = now;
  Object.assign(OnClock, { parse, UTC });
  Object.defineProperties(OnClock, { prototype: { value: prototype }, name: { value: "Date" } });
  Object.defineProperty(prototype, "constructor", { value: OnClock, writable: true, configurable: true });
  return OnClock as unknown as DateConstructor;
}

/**
 * Has `Intl.DateTimeFormat` format the time of `now` where it is given none.
 * get-convex/convex-backend npm-packages/udf-runtime/src/00_temporal.ts
 */
export function formatOn(now: () => number): void {
  const { prototype } = Intl.DateTimeFormat;
  const { get: formatOf } = Object.getOwnPropertyDescriptor(prototype, "format")!;
  const { formatToParts: partsOf } = prototype;
  const { call } = Function.prototype;
  const formatWith = call.bind(formatOf!) as (format: object) => (date: unknown) => string;
  const partsWith = call.bind(partsOf) as (format: object, date: unknown) => Intl.DateTimeFormatPart[];
  type Format = (date?: unknown) => string;
  const known = new WeakMap<Format, Format>();
  const { get, set } = WeakMap.prototype;
  const find = call.bind(get) as (map: object, key: object) => Format | undefined;
  const note = call.bind(set) as (map: object, key: object, value: Format) => void;
  const methods = {
    // The same function each time, as the language has it.
    get format(): Format {
      const native = formatWith(this);
      let format = find(known, native);
      if (!format) {
        format = (date) => native(date === undefined ? now() : date);
        Object.defineProperty(format, "name", { value: "" });
        note(known, native, format);
      }
      return format;
    },
    formatToParts(date?: unknown): Intl.DateTimeFormatPart[] {
      return partsWith(this, date === undefined ? now() : date);
    },
  };
  const { format, formatToParts } = Object.getOwnPropertyDescriptors(methods);
  Object.defineProperty(prototype, "format", { ...format, enumerable: false });
  Object.defineProperty(prototype, "formatToParts", { ...formatToParts, enumerable: false });
}
