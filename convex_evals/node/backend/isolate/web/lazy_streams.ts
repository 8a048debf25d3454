/** Streams, which most calls do without: a part of this script, which runs when it is asked for. */

import type * as Streams from "./streams.ts";

export function streams(): typeof Streams {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- esbuild's
  return require("./streams.ts") as typeof Streams;
}
