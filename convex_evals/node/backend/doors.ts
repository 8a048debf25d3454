/**
 * What a client may do depends on the way in that it uses: the admin key is well known, so it proves nothing.
 *
 * Sockets that only the tester reaches are doors for it; the ports that a graded project reaches are another. Pages of other
 * sites find one of their own where an app is kept (`pages.ts`).
 */
export interface Door {
  /** Whether the admin key is honoured. */
  readonly admin: boolean;
  /** Whether something may be deployed. */
  readonly push: boolean;
  /** Whether anything may be called that is no query. */
  readonly writing: boolean;
}

export const EVERYTHING: Door = { admin: true, push: true, writing: true };
export const FOR_TESTER: Door = { admin: true, push: false, writing: true };
export const FOR_PROJECT: Door = { admin: false, push: false, writing: true };
export const FOR_READING: Door = { admin: false, push: false, writing: false };
