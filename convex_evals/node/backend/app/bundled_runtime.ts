/** The runtime as one text, in the bundle that build.ts makes; null where it is loaded from its modules. */
export const BUNDLED_RUNTIME: string | null = null;
