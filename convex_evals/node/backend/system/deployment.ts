/** System functions about the deployment itself: functions, schemas, crons, variables, tables. */

import type { App } from "../app/app.ts";
import type { CronSchedule, JsonValue } from "../runtime_types.ts";
import { intervalSeconds, type CronStatus } from "../crons.ts";
import { splitUdfPath } from "../push/evaluated.ts";
import { analyzedSchema } from "../push/response.ts";
import { CONVEX_VERSION } from "../versions.ts";
import { stringArg } from "./arguments.ts";
import { int64, nanoseconds, utf8Bytes } from "./encoding.ts";
import type { SystemFunction } from "./system_function.ts";

/** Every function and HTTP route of a component. */
export const apiSpec: SystemFunction = async (app, _args, componentPath) => {
  const modules = app.deployment?.component(componentPath)?.definition.modules ?? [];
  return [...modules]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((module): JsonValue[] => [
      ...module.inspection.functions.map((fn) => ({
        identifier: `${module.name}.js:${fn.name}`,
        functionType: fn.udfType,
        visibility: { kind: fn.visibility.kind },
        args: JSON.parse(fn.args) as JsonValue,
        returns: (JSON.parse(fn.returns) as JsonValue) ?? { type: "any" },
      })),
      ...module.inspection.httpRoutes.map((route) => ({
        functionType: "HttpAction",
        method: route.method,
        path: route.path,
      })),
    ]);
};

export const getSchemas: SystemFunction = async (app, _args, componentPath): Promise<JsonValue> => {
  const schema = app.deployment?.component(componentPath)?.definition.schema;
  return schema ? { active: JSON.stringify(analyzedSchema(schema)) } : {};
};

export const listCronJobs: SystemFunction = async (app, _args, componentPath) =>
  app
    .crons()
    .filter((cron) => cron.componentPath === componentPath)
    .map(cronJob);

function cronJob(cron: CronStatus, index: number): JsonValue {
  const [module, name] = splitUdfPath(cron.spec.name);
  return {
    _id: `${String(index + 1).padStart(22, "0")}_cron_jobs`,
    _creationTime: 0,
    name: cron.name,
    cronSpec: {
      udfPath: `${module}.js:${name}`,
      udfArgs: utf8Bytes(JSON.stringify(cron.spec.args)),
      cronSchedule: cronSchedule(cron.spec.schedule),
    },
    lastRun: cron.lastRunMs === null ? null : { name: cron.name, ts: nanoseconds(cron.lastRunMs) },
    nextRun: { nextTs: nanoseconds(cron.nextRunMs) },
  };
}

function cronSchedule(schedule: CronSchedule): JsonValue {
  const minute: { [name: string]: JsonValue } =
    "minuteUTC" in schedule && schedule.minuteUTC !== undefined ? { minuteUTC: int64(schedule.minuteUTC) } : {};
  switch (schedule.type) {
    case "interval":
      return { type: "interval", seconds: int64(intervalSeconds(schedule)) };
    case "hourly":
      return { type: "hourly", ...minute };
    case "daily":
      return { type: "daily", hourUTC: int64(schedule.hourUTC), ...minute };
    case "weekly":
      return {
        type: "weekly",
        dayOfWeek: int64(WEEKDAYS.indexOf(schedule.dayOfWeek)),
        hourUTC: int64(schedule.hourUTC),
        ...minute,
      };
    case "monthly":
      return { type: "monthly", day: int64(schedule.day), hourUTC: int64(schedule.hourUTC), ...minute };
    case "cron":
      return { type: "cron", cronExpr: schedule.cron };
    default:
      throw schedule satisfies never;
  }
}

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export const listEnvironmentVariables: SystemFunction = async (app) =>
  [...app.environment.user].sort(([a], [b]) => (a < b ? -1 : 1)).map(environmentVariable);

export const getEnvironmentVariable: SystemFunction = async (app, args) => {
  const name = stringArg(args, "name");
  const value = app.environment.user.get(name);
  return value === undefined ? null : environmentVariable([name, value], 0);
};

function environmentVariable([name, value]: readonly [string, string], index: number): JsonValue {
  return { _id: `${String(index + 1).padStart(11, "0")}_environment_variables`, _creationTime: 0, name, value };
}

/** Tables that the schema names or that hold documents. */
function tableNames(app: App, componentPath: string): string[] {
  const declared =
    app.deployment?.component(componentPath)?.definition.schema?.tables.map((table) => table.tableName) ?? [];
  const stored = app.store.component(componentPath).tableNames();
  return [...new Set([...declared, ...stored])].filter((name) => !name.startsWith("_")).sort();
}

export const tables: SystemFunction = async (app, _args, componentPath) => ({
  page: tableNames(app, componentPath).map((name) => ({ name })),
  isDone: true,
  continueCursor: "_end_cursor",
  splitCursor: null,
  pageStatus: null,
});

export const tableMapping: SystemFunction = async (app, _args, componentPath) =>
  Object.fromEntries(tableNames(app, componentPath).map((name, index) => [String(10_001 + index), name]));

export const tableSize: SystemFunction = async (app, args, componentPath) =>
  app.store.component(componentPath).documentCount(stringArg(args, "tableName"));

export const listComponents: SystemFunction = async (app) =>
  [...(app.deployment?.components() ?? [])]
    .filter((instance) => instance.componentPath !== "")
    .map((instance) => ({
      id: instance.componentPath,
      name: instance.componentPath.split("/").at(-1) ?? "",
      path: instance.componentPath,
      args: {},
      state: "active",
    }));

export const cloudUrl: SystemFunction = async (app) => app.environment.values["CONVEX_CLOUD_URL"] ?? "";
export const siteUrl: SystemFunction = async (app) => app.environment.values["CONVEX_SITE_URL"] ?? "";
export const getVersion: SystemFunction = async () => CONVEX_VERSION;
export const deploymentState: SystemFunction = async () => ({
  _id: "0000000000000001_backend_state",
  _creationTime: 0,
  state: "running",
});
