type WithoutNull<T> = { [K in keyof T]: Exclude<T[K], null> };

/** Null becomes undefined, which removes a field; what is not there at all stays away. */
export function nullRemoves<T extends Record<string, unknown>>(given: T): WithoutNull<T> {
  const entries = Object.entries(given).map(([field, value]) => [field, value === null ? undefined : value]);
  return Object.fromEntries(entries) as WithoutNull<T>;
}
