/** What a push was told of the exports of its modules (`isolate/inspection.ts`). */

import type { AnalyzedFunction, CronSpec, ModuleInspection } from "../runtime_types.ts";

const KINDS: ReadonlySet<unknown> = new Set(["Query", "Mutation", "Action"]);

/** Reads the inspection of a module of the default runtime; crons are the text that the app exported. */
export function readInspection(text: string): ModuleInspection {
  const inspection = JSON.parse(text) as Omit<ModuleInspection, "crons"> & { readonly crons: string };
  for (const { name, args, returns } of inspection.functions) {
    checkJson(args, `${name}.exportArgs()`);
    checkJson(returns, `${name}.exportReturns()`);
  }
  return { ...inspection, crons: JSON.parse(inspection.crons) as Record<string, CronSpec> };
}

// get-convex/convex-backend crates/isolate/src/environment/analyze.rs
function checkJson(text: string, source: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`Invalid JSON returned from ${source}: ${(error as Error).message}`, { cause: error });
  }
}

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
