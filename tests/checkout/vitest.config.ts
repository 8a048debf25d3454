import { defineConfig } from "vitest/config";

// For people who run a grader by hand against backends that they started themselves.
export default defineConfig({ test: { include: ["evals/**/grader.test.ts"], testTimeout: 30_000 } });
