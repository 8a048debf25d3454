/** Between the library and the tester: what a program that the library starts gets to see and to reach. */

/**
 * For `spawn` and its like: all that the program is shown, folders of the project or below the grader's own; nothing that it writes
 * comes back. Outside of the tester it has no effect.
 */
export const SEEN = Symbol.for("convex-evals.seen");

export interface Seen {
  [SEEN]: readonly string[];
}

/**
 * For connections of `node:net`, true: to the deployment's port as the project reaches it, where the admin key is of no use. For what
 * a grader passes on for a program. Outside of the tester it has no effect.
 */
export const AS_PROJECT = Symbol.for("convex-evals.as-project");
