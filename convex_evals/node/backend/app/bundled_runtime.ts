/** Texts that the bundle that build.ts makes brings along; null where they are read from their modules. */

/** The runtime in one piece. */
export const BUNDLED_RUNTIME: string | null = null;

/** The watchdog's clock, without types: stripping them took a tenth of what the backend does for a project. */
export const BUNDLED_WATCHDOG: string | null = null;
