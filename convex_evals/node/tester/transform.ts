/** How a suite's script becomes a module that Node runs: as run.ts tells vite to do it. */
import type { TransformOptions } from "esbuild";

export const TRANSFORM: TransformOptions = {
  sourcemap: "inline",
  sourcesContent: false,
  format: "esm",
  target: "node24",
  // A string keeps the tsconfig files of the suite out.
  tsconfigRaw: '{"compilerOptions":{"target":"esnext","jsx":"react-jsx"}}',
};
