/** What a system function is, and how it fails. */

import type { App } from "../app/app.ts";
import type { JsonValue } from "../runtime_types.ts";

/** Arguments of a system function, decoded from JSON but not validated. */
export type SystemArgs = Readonly<Record<string, JsonValue | undefined>>;
export type SystemFunction = (app: App, args: SystemArgs, componentPath: string) => Promise<JsonValue>;

/** A failure that the client gets as it is. */
export class SystemFunctionError extends Error {
  readonly data: JsonValue | undefined;

  constructor(message: string, data?: JsonValue) {
    super(message);
    this.data = data;
  }
}
