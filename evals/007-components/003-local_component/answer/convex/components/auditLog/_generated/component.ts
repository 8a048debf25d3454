/* eslint-disable */
/**
 * Generated `ComponentApi` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type { FunctionReference } from "convex/server";

/**
 * A utility for referencing a Convex component's exposed API.
 *
 * Useful when expecting a parameter like `components.myComponent`.
 * Usage:
 * ```ts
 * async function myFunction(ctx: QueryCtx, component: ComponentApi) {
 *   return ctx.runQuery(component.someFile.someQuery, { ...args });
 * }
 * ```
 */
export type ComponentApi<Name extends string | undefined = string | undefined> =
  {
    log: {
      add: FunctionReference<
        "mutation",
        "internal",
        { actor: string; action: string; detail: string },
        null,
        Name
      >;
      newest: FunctionReference<
        "query",
        "internal",
        { actor: string; count: number },
        Array<{ action: string; detail: string }>,
        Name
      >;
    };
  };
