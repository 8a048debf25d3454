/** Between the library and the tester: what a program that the library starts gets to see. */

/**
 * For `spawn` and its like: all that the program is shown, folders of the project or below the grader's own; nothing that it writes
 * comes back. Outside of the tester it has no effect.
 */
export const SEEN = Symbol.for("convex-evals.seen");

export interface Seen {
  [SEEN]: readonly string[];
}
