/**
 * What the official code would have printed to the terminal while it worked on one project.
 *
 * It reports some failures only by printing (esbuild's messages, an unreadable convex.json) before it crashes with
 * no message of its own, so the printed lines are part of the answer.
 */

/** Printed lines of one piece of work, in order, by how they were printed. */
export interface Diagnostics {
  errors: string[];
  warnings: string[];
}

let current: Diagnostics = { errors: [], warnings: [] };

/** Forgets what was printed before; call it at the start of each piece of work. */
export function startDiagnostics(): void {
  current = { errors: [], warnings: [] };
}

/** Returns what was printed since `startDiagnostics`. */
export function takeDiagnostics(): Diagnostics {
  return current;
}

/** Records one printed message. */
export function record(level: keyof Diagnostics, message: string): void {
  current[level].push(message);
}
