/** Where the chance and the time of a context come from. */

export interface Sources {
  fillRandom(bytes: Uint8Array): void;
  /** Throws where only the host's randomness would do, and may not be used. */
  requireHostRandomness(): void;
  /** What `performance.now()` says. */
  now(): number;
  readonly timeOrigin: number;
}

let given: Sources | undefined;

/** Has to be called once, before a class of the web is used. */
export function setSources(found: Sources): void {
  given = found;
}

export function sources(): Sources {
  return given!;
}
