/** Texts that the bundle that build.ts makes brings along; null where they are read from their modules. */
import { readFileSync } from "node:fs";

/** A file that build.ts makes; tests start hundreds of backends, and most of that is compiling the runtime's modules. */
const BUILT = process.env.BACKEND_RUNTIME;

/** The runtime in one piece. */
export const BUNDLED_RUNTIME: string | null = BUILT === undefined ? null : readFileSync(BUILT, "utf8");

/** The watchdog's clock, without types: stripping them took a tenth of what the backend does for a project. */
export const BUNDLED_WATCHDOG: string | null = null;
