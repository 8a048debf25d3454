/** Remembers what `load` gave for a key, so that each key is loaded once. */
export function once<Key, Result>(
  load: (key: Key) => Promise<Result>,
): (key: Key) => Promise<Result> {
  const started = new Map<Key, Promise<Result>>();
  return (key) => {
    let result = started.get(key);
    if (result === undefined) {
      result = load(key);
      started.set(key, result);
    }
    return result;
  };
}

/** Alphabetical order, for `Array.prototype.sort`. */
export function alphabetically(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
