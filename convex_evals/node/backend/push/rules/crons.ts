import { parseCronExpression } from "../../cron_expression.ts";
import { DeployError } from "../../errors.ts";
import { findFunction, type EvaluatedDefinition } from "../evaluated.ts";
import type { CronSpec } from "../../app/runtime_types.ts";
import type { DeployRule } from "./rule.ts";

/** https://docs.convex.dev/scheduling/cron-jobs */
export const cronRule: DeployRule = (push) => {
  for (const definition of push.definitions.values()) {
    const crons = definition.modules.find((module) => module.name === "crons");
    if (!crons) continue;
    if (crons.inspection.defaultExport === "missing") {
      throw new DeployError("MissingCronsExport", "`convex/crons.js` must have a default export of Crons. `export default crons`");
    }
    if (crons.inspection.defaultExport !== "crons") {
      throw new DeployError("MissingCronsExport", "The default export of `convex/crons.js` must be a Crons object made with `cronJobs()`.");
    }
    for (const [name, spec] of Object.entries(crons.inspection.crons)) checkCron(definition, name, spec);
  }
};

function checkCron(definition: EvaluatedDefinition, name: string, spec: CronSpec): void {
  const target = findFunction(definition, spec.name);
  if (!target) {
    throw new DeployError("InvalidCron", `Cron job "${name}" schedules a function that does not exist: ${spec.name}`);
  }
  if (target.udfType === "Query") {
    throw new DeployError("InvalidCron", `Cron job "${name}" schedules ${spec.name}, which is a query. Only mutations and actions can be scheduled.`);
  }
  if (spec.schedule.type !== "cron") return;
  try {
    parseCronExpression(spec.schedule.cron);
  } catch (error) {
    throw new DeployError("InvalidCron", `Cron job "${name}" has an invalid schedule: ${(error as Error).message}`);
  }
}
