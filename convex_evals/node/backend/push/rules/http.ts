import { DeployError } from "../../errors.ts";
import type { DeployRule } from "./rule.ts";

/** https://docs.convex.dev/functions/http-actions */
export const httpRule: DeployRule = (push) => {
  for (const definition of push.definitions.values()) {
    const http = definition.modules.find((module) => module.name === "http");
    if (!http) continue;
    if (http.inspection.defaultExport === "missing") {
      throw new DeployError("MissingHttpRouter", "`convex/http.js` must have a default export of a Router. `export default router`");
    }
    if (http.inspection.defaultExport !== "router") {
      throw new DeployError("MissingHttpRouter", "The default export of `convex/http.js` must be a Router.");
    }
  }
};
