/** How the script is built that runs first in the context of each call. */
import path from "node:path";
import { build, type BuildOptions } from "esbuild";
import { ROOT, SCRIPT } from "./bundles.ts";

export const ISOLATE = {
  ...SCRIPT,
  entryPoints: [path.join(ROOT, "backend", "isolate", "entry.ts")],
  platform: "neutral",
  // It has no modules of Node's: what the banner of other scripts defines has no use here.
  banner: { js: '(function (require, module, exports) { "use strict";' },
} as const satisfies BuildOptions;

/** The script's text, for a backend that runs from its sources. */
export async function isolateText(): Promise<string> {
  const { outputFiles } = await build({ ...ISOLATE, entryPoints: [...ISOLATE.entryPoints], write: false });
  return outputFiles[0]!.text;
}
