/**
 * What may be done by whoever comes in one way or another: the admin key is well known, so it is the way in that counts.
 *
 * Sockets that only the tester reaches are doors for it; the ports that a graded project reaches are another.
 */
export interface Door {
  /** Whether the admin key is honoured. */
  readonly admin: boolean;
  /** Whether something may be deployed. */
  readonly push: boolean;
}

export const EVERYTHING: Door = { admin: true, push: true };
export const FOR_TESTER: Door = { admin: true, push: false };
export const FOR_PROJECT: Door = { admin: false, push: false };
