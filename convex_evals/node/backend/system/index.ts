/** Functions under `_system/`, which only administrators can call. */

import type { App } from "../app/app.ts";
import type { AppCall } from "../app/call.ts";
import type { FunctionResult } from "../runtime_types.ts";
import { SystemFunctionError, type SystemArgs } from "./system_function.ts";

/** Runs a system function; an unknown one is answered as Convex does. */
export async function callSystemFunction(app: App, call: AppCall): Promise<FunctionResult> {
  const { SYSTEM_FUNCTIONS } = await import("./functions.ts");
  const path = call.path.replace(/\.js(?=:|$)/, "").replace(/:default$/, "");
  const fn = Object.hasOwn(SYSTEM_FUNCTIONS, path) ? SYSTEM_FUNCTIONS[path] : undefined;
  if (!fn) {
    return {
      ok: false,
      errorMessage: `Could not find function for '${path}'. Did you forget to run \`npx convex dev\` or \`npx convex deploy\`?`,
    };
  }
  try {
    const args = (call.args ?? {}) as SystemArgs;
    const { componentId } = args;
    return { ok: true, value: await fn(app, args, typeof componentId === "string" ? componentId : call.componentPath) };
  } catch (error) {
    if (!(error instanceof SystemFunctionError)) {
      return { ok: false, errorMessage: `Uncaught Error: ${(error as Error).message}` };
    }
    return { ok: false, errorMessage: error.message, ...(error.data === undefined ? {} : { errorData: error.data }) };
  }
}
