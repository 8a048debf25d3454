/** How the script is built that runs first in the context of each call. */

import { fileURLToPath } from "node:url";
import { build, type BuildOptions } from "esbuild";

export const ISOLATE = {
  entryPoints: [fileURLToPath(new URL("../isolate/entry.ts", import.meta.url))],
  bundle: true,
  format: "cjs",
  platform: "neutral",
  target: "node24",
  banner: { js: '(function (require, module, exports) { "use strict";' },
  footer: { js: "})" },
  logLevel: "warning",
} as const satisfies BuildOptions;

/** The script's text, for a backend that runs from its sources. */
export async function isolateText(): Promise<string> {
  const { outputFiles } = await build({ ...ISOLATE, entryPoints: [...ISOLATE.entryPoints], write: false });
  return outputFiles[0]!.text;
}
