/** `convex-evals/grader`: what graders are written with. docs/writing-evals.md shows how. */
import { setUp } from "./set_up.ts";

export * from "./exports.ts";

// Elsewhere than in the tester (the library's own tests) vitest refuses to load.
if (process.env["VITEST"] !== undefined) setUp(await import("vitest"));
