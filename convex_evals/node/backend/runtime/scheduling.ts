/** Scheduled functions: https://docs.convex.dev/scheduling/scheduled-functions */

import { AsyncLocalStorage } from "node:async_hooks";
import { errorText } from "./error_text.ts";
import { checkArgumentsValue } from "./value_rules.ts";
import { host } from "embedded:host";

interface FunctionPath {
  readonly componentPath: string;
  readonly udfPath: string;
}

interface JobDatabase {
  get(table: string, id: string): { readonly state: { readonly kind: string } } | null;
  patch(table: string, id: string, fields: object): void;
}

const TABLE = "_scheduled_functions";
const MAX_DISTANCE_SECONDS = 5 * 366 * 24 * 3600;

/**
 * Refuses what cannot be scheduled. Whether it is a query, and whether its
 * arguments match its validator, shows when it runs: get-convex/convex-backend crates/udf/src/validation.rs
 */
export async function checkSchedulable(
  resolve: () => Promise<unknown>,
  path: FunctionPath,
  dueSeconds: unknown,
  args: unknown,
): Promise<void> {
  if (typeof dueSeconds !== "number") {
    throw new Error(`Invalid arguments for \`scheduler\`: invalid type: ${typeof dueSeconds}, expected f64`);
  }
  const distance = dueSeconds - Date.now() / 1000;
  if (Math.abs(distance) > MAX_DISTANCE_SECONDS) {
    throw new Error(`${dueSeconds} is more than 5 years in the ${distance > 0 ? "future" : "past"}`);
  }
  checkArgumentsValue(args, path);
  const [module = "", name = "default"] = path.udfPath.split(":");
  try {
    await resolve();
  } catch (error) {
    if (String((error as Error).message).startsWith("Could not find module for")) {
      throw new Error(
        `Attempted to schedule function at nonexistent path: ${path.componentPath === "" ? "" : `${path.componentPath} `}${module}.js`,
      );
    }
    throw new Error(
      `Attempted to schedule function, but no exported function ${name} found in the file: ${module}.js. Did you forget to export it?`,
    );
  }
}

/** Refuses to run a job whose function is neither a mutation nor an action. */
export function checkRunnable(func: Record<string, unknown>, { udfPath }: FunctionPath): void {
  if (func["isMutation"] === true || func["isAction"] === true) return;
  const [module = "", name = "default"] = udfPath.split(":");
  const type = func["isQuery"] === true ? "Query" : "HttpAction";
  throw new Error(
    `Unsupported function type. "${name}" in module "${module}.js" is defined as a ${type}. Only Mutation and Action can be scheduled.`,
  );
}

export function jobSucceeded(): object {
  return { state: { kind: "success" }, completedTime: Date.now() };
}

export function jobFailed(error: unknown): object {
  return { state: { kind: "failed", error: errorText(error) }, completedTime: Date.now() };
}

/** A job that was canceled while it ran stays canceled. */
export function patchUnlessCanceled(db: JobDatabase, jobId: string, fields: object): void {
  if (db.get(TABLE, jobId)?.state.kind === "canceled") return;
  db.patch(TABLE, jobId, fields);
}

const running = new AsyncLocalStorage<{ readonly db: JobDatabase; readonly jobId: string }>();

/** Runs the function of a job. */
export async function runningJob<T>(db: unknown, jobId: string, run: () => Promise<T>): Promise<T> {
  return await running.run({ db: db as JobDatabase, jobId }, run);
}

/**
 * Notes a job that the running function has scheduled. What a canceled job still schedules is canceled.
 * get-convex/convex-backend crates/model/src/scheduled_jobs/mod.rs
 */
export function jobScheduled(db: JobDatabase, job: Parameters<typeof host.jobScheduled>[0]): void {
  host.jobScheduled(job);
  const parent = running.getStore();
  if (parent?.db.get(TABLE, parent.jobId)?.state.kind === "canceled") cancelJob(db, job.jobId);
}

/** Cancels a job that is not over yet; for one that is, and for the one that runs, nothing happens. */
export function cancelJob(db: JobDatabase, jobId: string): void {
  if (running.getStore()?.jobId === jobId) return;
  const kind = db.get(TABLE, jobId)?.state.kind;
  if (kind !== "pending" && kind !== "inProgress") return;
  db.patch(TABLE, jobId, { state: { kind: "canceled" }, completedTime: Date.now() });
}
