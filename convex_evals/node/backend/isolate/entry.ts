/**
 * Entry of the script that runs first in the context of each call, before the app's code. What the app's code changes in
 * its context, it changes for its own call.
 */

import { installGlobals } from "./globals.ts";
import { setHost } from "./host.ts";
import type * as HttpActions from "./http_action.ts";
import { inspectAuthConfig, inspectDefinition, inspectModule, inspectSchema } from "./inspection.ts";
import { ModuleLoader } from "./loader.ts";
import type { ModuleExports } from "./module_helpers.ts";
import { errorText, valueText } from "./outcome_text.ts";
import { Phases } from "./phases.ts";
import type { IsolateApi, IsolateKind, Settle, Surroundings, View } from "./types.ts";

const VIEWS: Readonly<Record<View, (exports: ModuleExports) => string>> = {
  module: inspectModule,
  definition: inspectDefinition,
  schema: inspectSchema,
  authConfig: inspectAuthConfig,
};

const { apply } = Reflect;

/** Prepares the context; the app's modules are loaded when the first one is asked for. */
export function open(surroundings: Surroundings): IsolateApi {
  setHost(surroundings.host);
  const phases = new Phases(surroundings);
  installGlobals(surroundings, phases);
  const modules = new ModuleLoader(surroundings);
  const load = (identifier: string): ModuleExports => {
    const exports = modules.load(identifier);
    phases.begin();
    return exports;
  };
  return {
    // Not by a promise: the app's code may have changed what a promise calls.
    inspect: (identifier, view, settle) => settle(toldAtOnce(() => VIEWS[view](modules.load(identifier)))),
    invoke: (identifier, name, args, settle) =>
      void told(settle, () => invoke(surroundings.kind, load(identifier)[name], name, args)),
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
const INVOKE = { query: "invokeQuery", mutation: "invokeMutation", action: "invokeAction" } as const;

async function invoke(kind: IsolateKind, value: unknown, name: string, args: string): Promise<string> {
  const fn = (value as Readonly<Record<string, unknown>>)[INVOKE[kind as keyof typeof INVOKE]];
  if (typeof fn !== "function") throw new Error(`${name} is not a function of this kind`);
  const result = (await apply(fn, value, kind === "action" ? ["", args] : [args])) as unknown;
  if (typeof result !== "string") throw new Error(`${name} did not return the text of its result`);
  return result;
}

async function told(settle: Settle, run: () => Promise<string>): Promise<void> {
  let outcome: string;
  try {
    outcome = valueText(await run());
  } catch (error) {
    outcome = errorText(error);
  }
  settle(outcome);
}

function toldAtOnce(run: () => string): string {
  try {
    return valueText(run());
  } catch (error) {
    return errorText(error);
  }
}
