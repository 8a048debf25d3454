/** What the process for "use node" says that a module exports. */

import type { AnalyzedFunction, ModuleInspection } from "../runtime_types.ts";

const KINDS: ReadonlySet<unknown> = new Set(["Query", "Mutation", "Action"]);

/** Reads an inspection that the app's own process wrote; only its functions are taken over. */
export function checkedInspection(text: string): ModuleInspection {
  const { functions } = JSON.parse(text) as { functions?: Partial<AnalyzedFunction>[] };
  const listed = (Array.isArray(functions) ? functions : []).map(
    ({ name, udfType, visibility, args, returns }): AnalyzedFunction => {
      const kind = visibility?.kind === "public" ? "public" : "internal";
      if (typeof name !== "string" || !KINDS.has(udfType) || typeof args !== "string" || typeof returns !== "string") {
        throw new Error("The module's exports cannot be read");
      }
      return { name, udfType: udfType as AnalyzedFunction["udfType"], visibility: { kind }, args, returns, pos: null };
    },
  );
  return { functions: listed, defaultExport: "other", httpRoutes: [], crons: {} };
}
