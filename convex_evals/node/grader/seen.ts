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
 * For `spawn` and its like: all that the program may connect to, by addresses of the deployment or of servers of the grader's. Without
 * it a program reaches what the project's functions reach. Outside of the tester it has no effect.
 */
export const REACHED = Symbol.for("convex-evals.reached");

export interface Reached {
  [REACHED]: readonly string[];
}

/**
 * For connections of `node:net`, true: to the deployment's port as the project reaches it, where the admin key is of no use. For what
 * a grader passes on for a program. Outside of the tester it has no effect.
 */
export const AS_PROJECT = Symbol.for("convex-evals.as-project");
