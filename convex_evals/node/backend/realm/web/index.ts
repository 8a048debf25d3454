/** What the classes of the web in a context ask of the host. */

import type { Host } from "../../isolate/types.ts";
import { ASYNC_HOST } from "./async_hooks.ts";
import { CRYPTO_HOST } from "./crypto.ts";
import { TEXT_HOST } from "./text.ts";
import { URL_HOST } from "./url.ts";

export const HOST: Host = {
  async: ASYNC_HOST,
  text: TEXT_HOST,
  url: URL_HOST,
  crypto: CRYPTO_HOST,
  now: () => performance.now(),
  dateNow: () => Date.now(),
};
