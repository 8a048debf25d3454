import { parseCronExpression } from "../../cron_expression.ts";
import { DeployError, invalidModules } from "../../errors.ts";
import { findFunction, splitUdfPath, type EvaluatedDefinition } from "../evaluated.ts";
import type { CronSchedule, CronSpec } from "../../runtime_types.ts";
import type { PushRule } from "./rule.ts";

/**
 * get-convex/convex-backend crates/isolate/src/environment/analyze.rs (cron_analyze),
 * crates/model/src/cron_jobs/types.rs, crates/application/src/application_function_runner/mod.rs
 */
export const cronRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    const crons = definition.modules.find((module) => module.name === "crons");
    if (!crons) continue;
    if (crons.inspection.defaultExport === "missing") {
      throw invalidModules("`convex/crons.js` must have a default export of a Crons object.");
    }
    if (crons.inspection.defaultExport !== "crons") {
      throw invalidModules("The default export of `convex/crons.js` is not a Crons object.");
    }
    const specs = Object.entries(crons.inspection.crons).sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, spec] of specs) checkSpec(name, spec);
    for (const [name, spec] of specs) checkTarget(definition, name, spec);
  }
};

function checkSpec(name: string, spec: CronSpec): void {
  const invalid = [...name].find((character) => !/[\x20-\x7e]/.test(character));
  if (invalid !== undefined) {
    throw new DeployError(
      "InvalidCron",
      `CronIdentifier ${name} has invalid character '${invalid}': CronIdentifiers can only contain ASCII characters that are not control characters`,
    );
  }
  const problem = scheduleProblem(spec.schedule);
  if (problem !== null) throw new DeployError("InvalidCron", problem.replace("{spec}", JSON.stringify(spec, null, 2)));
}

function scheduleProblem(schedule: CronSchedule): string | null {
  switch (schedule.type) {
    case "interval":
      return intervalProblem([schedule.seconds, schedule.minutes, schedule.hours]);
    case "hourly":
      return minuteProblem(schedule.minuteUTC);
    case "daily":
    case "weekly":
      return timeProblem(schedule);
    case "monthly":
      return timeProblem(schedule) ?? rangeProblem("day of month", schedule.day, 1, 31);
    case "cron":
      return expressionProblem(schedule.cron);
    default:
      throw schedule satisfies never;
  }
}

function intervalProblem(parts: readonly (number | undefined)[]): string | null {
  const given = parts.filter((part) => part !== undefined);
  if (given.length !== 1) return "Exactly one of (seconds, minutes, hours) should be specified";
  return given.every((part) => part > 0) ? null : "Interval must be an integer greater than 0";
}

function timeProblem({ hourUTC, minuteUTC }: { hourUTC: number; minuteUTC?: number }): string | null {
  return minuteProblem(minuteUTC) ?? rangeProblem("hourUTC", hourUTC, 0, 23);
}

// Convex picks the minute where none is given: npm convex/src/server/cron.ts
function minuteProblem(minuteUTC: number | undefined): string | null {
  return minuteUTC === undefined ? null : rangeProblem("minuteUTC", minuteUTC, 0, 59);
}

function rangeProblem(name: string, value: number, min: number, max: number): string | null {
  if (!Number.isInteger(value)) return "Invalid JSON";
  return value >= min && value <= max ? null : `${name} must be ${min}-${max} in {spec}`;
}

function expressionProblem(expression: string): string | null {
  try {
    const next = parseCronExpression(expression).next(Date.now());
    return next === null ? "Could not compute next timestamp for cron" : null; // 30 February
  } catch (error) {
    return (error as Error).message;
  }
}

function checkTarget(definition: EvaluatedDefinition, name: string, spec: CronSpec): void {
  const [module, fn] = splitUdfPath(spec.name);
  const path = fn === "default" ? `${module}.js` : `${module}.js:${fn}`;
  const target = findFunction(definition, spec.name);
  if (!target) throw invalidModules(`The cron job '${name}' schedules a function that does not exist: ${path}`);
  if (target.udfType === "Query") {
    throw invalidModules(
      `The cron job '${name}' schedules a query function, only actions and mutations can be scheduled: ${path}`,
    );
  }
}
