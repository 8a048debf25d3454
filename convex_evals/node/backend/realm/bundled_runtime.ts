/** What the bundle that build.ts makes brings along; null where it is read from its modules. */

/** A script that build.ts makes; tests start hundreds of backends, and most of that is compiling the runtime's modules. */
export const BUNDLED_RUNTIME: string | null = process.env.BACKEND_RUNTIME ?? null;

/** The script that runs first in the context of each call. */
export const BUNDLED_ISOLATE: string | null = process.env.BACKEND_ISOLATE ?? null;

/** The watchdog's clock, without types: stripping them took a tenth of what the backend does for a project. */
export const BUNDLED_WATCHDOG: string | null = null;
