/**
 * Entry of the script that runs first in the context of each call, before the app's code. What the app's code changes in
 * its context, it changes for its own call.
 */

import type { Outcome } from "../node_messages.ts";
import { described } from "./described.ts";
import { installGlobals } from "./globals.ts";
import { setHost } from "./host.ts";
import type * as HttpActions from "./http_action.ts";
import { inspectAuthConfig, inspectDefinition, inspectModule, inspectSchema } from "./inspection.ts";
import { ModuleLoader } from "./loader.ts";
import type { IsolateApi, Settle, Surroundings, View } from "./types.ts";

type Exports = Readonly<Record<string, unknown>>;

const VIEWS: Readonly<Record<View, (exports: Exports) => string>> = {
  module: inspectModule,
  definition: inspectDefinition,
  schema: inspectSchema,
  authConfig: inspectAuthConfig,
};

const { stringify } = JSON;

/** Prepares the context; the app's modules are loaded when the first one is asked for. */
export function open(surroundings: Surroundings): IsolateApi {
  let loading = true;
  setHost(surroundings.host);
  installGlobals(surroundings, () => loading);
  const modules = new ModuleLoader(surroundings);
  const load = (identifier: string): Exports => {
    loading = true;
    const exports = modules.load(identifier);
    loading = false;
    return exports;
  };
  return {
    inspect: (identifier, view, settle) => void told(settle, async () => VIEWS[view](load(identifier))),
    invoke: (identifier, name, args, settle) => void told(settle, () => invoke(load(identifier)[name], name, args)),
    fetch: (identifier, { path, method }, head, body, respond, settle) =>
      void told(settle, async () => {
        const { default: router } = load(identifier) as { default: Router };
        const found = router.lookup(path, method);
        if (!found) return "";
        const { requestOf, sentResponse } = httpActions();
        const sent = sentResponse(await found[0].invokeHttpAction(requestOf(head, body)));
        respond(sent.head, sent.body);
        return "";
      }),
  };
}

// Other calls need none of its classes.
function httpActions(): typeof HttpActions {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require("./http_action.ts") as typeof HttpActions;
}

interface Router {
  lookup(path: string, method: string): readonly [{ invokeHttpAction(request: object): Promise<unknown> }] | null;
}

/** What a registered function has besides its handler: the library's way to call it. */
interface Registered {
  readonly invokeQuery?: (args: string) => Promise<unknown>;
  readonly invokeMutation?: (args: string) => Promise<unknown>;
  readonly invokeAction?: (requestId: string, args: string) => Promise<unknown>;
}

async function invoke(value: unknown, name: string, args: string): Promise<string> {
  const fn = value as Registered;
  const result = await (fn.invokeQuery?.(args) ?? fn.invokeMutation?.(args) ?? fn.invokeAction?.("", args));
  if (typeof result !== "string") throw new Error(`${name} did not return the text of its result`);
  return result;
}

async function told(settle: Settle, run: () => Promise<string>): Promise<void> {
  let outcome: Outcome;
  try {
    outcome = { value: await run() };
  } catch (error) {
    outcome = { error: described(error) };
  }
  settle(stringify(outcome));
}
