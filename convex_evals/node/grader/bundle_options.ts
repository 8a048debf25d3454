/**
 * How pages and programs of a project are bundled, in one place: by the process that runs them, and by the checker, which has to
 * know what they will be made of. The project's own compiler options are judged by the type check, and must not change what runs.
 */
import type { BuildOptions } from "esbuild";

export const PAGE = {
  bundle: true,
  write: false,
  format: "iife",
  platform: "browser",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"development"' },
  loader: { ".css": "empty", ".module.css": "empty", ".svg": "empty", ".png": "empty" },
  logLevel: "silent",
  tsconfigRaw: {},
} as const satisfies BuildOptions;

export const PROGRAM = {
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
  // Packages in the older module format require Node's own modules.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  logLevel: "silent",
  tsconfigRaw: {},
} as const satisfies BuildOptions;
