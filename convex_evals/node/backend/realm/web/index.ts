/** What the classes of the web in a context ask of the host. */

import type { Host } from "../../isolate/types.ts";
import { ASYNC_HOST } from "./async_hooks.ts";

export const HOST: Host = { async: ASYNC_HOST };
