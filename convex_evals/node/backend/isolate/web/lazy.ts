/** Modules that most calls do without: each is a part of this script, and runs when it is asked for. */

import type * as Blobs from "./blob.ts";
import type * as Fetch from "./fetch.ts";

// `require` is esbuild's.
/* eslint-disable @typescript-eslint/no-require-imports */

export function blobs(): typeof Blobs {
  return require("./blob.ts") as typeof Blobs;
}

export function fetching(): typeof Fetch {
  return require("./fetch.ts") as typeof Fetch;
}
