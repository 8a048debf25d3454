/**
 * What a client may do depends on the way in that it uses: the admin key is well known, so it proves nothing.
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
