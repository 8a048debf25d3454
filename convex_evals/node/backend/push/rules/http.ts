import { invalidModules } from "../../errors.ts";
import type { PushRule } from "./rule.ts";

/** get-convex/convex-backend crates/isolate/src/environment/analyze.rs (http_analyze) */
export const httpRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    const http = definition.modules.find((module) => module.name === "http");
    if (!http) continue;
    if (http.inspection.defaultExport === "missing") {
      throw invalidModules("`convex/http.js` must have a default export of a Router.");
    }
    if (http.inspection.defaultExport !== "router") {
      throw invalidModules("The default export of `convex/http.js` is not a Router.");
    }
  }
};
