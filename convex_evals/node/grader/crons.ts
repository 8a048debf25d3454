/** The candidate's cron jobs, with schedules made comparable however they were written. */
import { makeFunctionReference } from "convex/server";
import type { GraderClient } from "./clients.ts";
import { askClient, askProject } from "./facts.ts";

/** One cron job. */
export interface CronJob {
  name: string;
  /** The path of the component that has it; not there for the app's own. */
  component?: string;
  /** "module:export", as in `internal`. */
  function: string;
  /** The arguments that each run gets. */
  args: unknown[];
  /** `every N s`, or `at` and a cron expression in UTC ("at 0 9 * * 1"). */
  schedule: string;
}

/** A schedule as the deployment reports it. */
export type ReportedSchedule =
  | { type: "interval"; seconds: bigint }
  | { type: "hourly"; minuteUTC?: bigint }
  | { type: "daily"; hourUTC: bigint; minuteUTC?: bigint }
  | { type: "weekly"; dayOfWeek: bigint | string; hourUTC: bigint; minuteUTC?: bigint }
  | { type: "monthly"; day: bigint; hourUTC: bigint; minuteUTC?: bigint }
  | { type: "cron"; cronExpr: string };

interface ReportedCron {
  name: string;
  cronSpec: { udfPath: string; udfArgs: ArrayBuffer; cronSchedule: ReportedSchedule };
}

const listCronJobs = makeFunctionReference<"query", Record<string, never>, ReportedCron[]>(
  "_system/frontend/listCronJobs",
);
const listComponents = makeFunctionReference<"query", Record<string, never>, { id: string; path: string }[]>(
  "_system/frontend/components:list",
);

/** The registered cron jobs, those of components included, ordered by name: the project's as it was pushed, unless there is a `client`. */
export async function listCrons(client?: GraderClient): Promise<CronJob[]> {
  const jobsOf = async (id?: string): Promise<ReportedCron[]> =>
    client ? await askClient(client, listCronJobs, id) : await askProject(listCronJobs, id);
  const components = client ? await askClient(client, listComponents) : await askProject(listComponents);
  const ofComponents = components.map(async ({ id, path }) => (await jobsOf(id)).map((job) => cronJob(job, path)));
  const all = [...(await jobsOf()).map((job) => cronJob(job)), ...(await Promise.all(ofComponents)).flat()];
  return all.sort((a, b) => order(a.name, b.name) || order(a.component ?? "", b.component ?? ""));
}

function cronJob({ name, cronSpec: { udfPath, udfArgs, cronSchedule } }: ReportedCron, component?: string): CronJob {
  return {
    name,
    ...(component === undefined ? {} : { component }),
    function: udfPath.replace(/\.js(?=:|$)/, ""),
    args: JSON.parse(new TextDecoder().decode(udfArgs)) as unknown[],
    schedule: scheduleText(cronSchedule),
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** One text for each meaning: `daily` at 3:00 and the expression "0 3 * * *" are the same schedule. */
export function scheduleText(schedule: ReportedSchedule): string {
  switch (schedule.type) {
    case "interval":
      return `every ${schedule.seconds} s`;
    case "hourly":
      return `at ${minute(schedule)} * * * *`;
    case "daily":
      return `at ${minute(schedule)} ${schedule.hourUTC} * * *`;
    case "weekly":
      return `at ${minute(schedule)} ${schedule.hourUTC} * * ${day(String(schedule.dayOfWeek))}`;
    case "monthly":
      return `at ${minute(schedule)} ${schedule.hourUTC} ${schedule.day} * *`;
    case "cron":
      return expressionText(schedule.cronExpr);
    default:
      return JSON.stringify(schedule satisfies never);
  }
}

const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const STEP = /^\*\/(\d+)$/;

/** Without a minute Convex picks one: that is no schedule to compare with. */
function minute({ minuteUTC }: { minuteUTC?: bigint }): string {
  return minuteUTC === undefined ? "any" : String(minuteUTC);
}

/** A day as its number, Sunday being 0, as in the expressions that Convex reads. */
function day(field: string): string {
  const named = DAYS.indexOf(field.slice(0, 3).toUpperCase());
  return named < 0 ? plain(field) : String(named);
}

function expressionText(expression: string): string {
  const fields = expression
    .trim()
    .split(/\s+/)
    .map((field) => (field === "*/1" ? "*" : field));
  const [minuteField = "*", hour = "*", dayOfMonth = "*", month = "*", dayOfWeek = "*"] = fields;
  const everyDay = dayOfMonth === "*" && month === "*" && dayOfWeek === "*";
  const minutes = minuteField === "*" ? 1 : Number(STEP.exec(minuteField)?.[1]);
  if (everyDay && hour === "*" && 60 % minutes === 0) return `every ${minutes * 60} s`;
  const hours = Number(STEP.exec(hour)?.[1]);
  if (everyDay && /^\d+$/.test(minuteField) && 24 % hours === 0) return `every ${hours * 3600} s`;
  return `at ${plain(minuteField)} ${plain(hour)} ${plain(dayOfMonth)} ${month} ${day(dayOfWeek)}`;
}

/** "05" and "5" are the same number. */
function plain(field: string): string {
  return /^\d+$/.test(field) ? String(Number(field)) : field;
}
