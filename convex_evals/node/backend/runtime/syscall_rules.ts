/**
 * Which function may do what, however it asks: code of the app reaches `Convex` without convex/server, too.
 *
 * get-convex/convex-backend crates/isolate/src/environment/udf/{syscall,async_syscall}.rs, action/async_syscall.rs
 */

import { wrongType } from "./serde_text.ts";

/** What runs: "runtime" is this backend's own work. Nothing while a module loads. */
type Kind = "query" | "mutation" | "action" | "http" | "runtime";

const ANY = [
  "1.0/auditLog",
  "1.0/createFunctionHandle",
  "1.0/getDeploymentMetadata",
  "1.0/getFunctionMetadata",
  // Queries are refused with a message of its own.
  "1.0/getRequestMetadata",
  "1.0/getUserIdentity",
  "1.0/storageGetMetadata",
  "1.0/storageGetUrl",
];
const READS = [
  "1.0/count",
  "1.0/db/normalizeId",
  "1.0/get",
  "1.0/getSnapshotTs",
  "1.0/getTransactionMetrics",
  "1.0/queryCleanup",
  "1.0/queryPage",
  "1.0/queryStream",
  "1.0/queryStreamNext",
  "1.0/runUdf",
];
const FILES = ["1.0/storageDelete", "1.0/storageGenerateUploadUrl", "1.0/storageGet", "1.0/storageStore"];
const WRITES = [
  ...FILES,
  "1.0/cancel_job",
  "1.0/insert",
  "1.0/remove",
  "1.0/replace",
  "1.0/schedule",
  "1.0/shallowMerge",
];
const BLOBS = ["storage/getBlob", "storage/storeBlob"];
const ACTIONS = [
  ...FILES,
  ...BLOBS,
  "1.0/actions/action",
  "1.0/actions/cancel_job",
  "1.0/actions/mutation",
  "1.0/actions/query",
  "1.0/actions/schedule",
  "1.0/actions/vectorSearch",
];

const ALLOWED: Readonly<Record<Kind, ReadonlySet<unknown>>> = {
  query: new Set([...ANY, ...READS]),
  mutation: new Set([...ANY, ...READS, ...WRITES]),
  action: new Set([...ANY, ...ACTIONS]),
  http: new Set([...ANY, ...ACTIONS]),
  runtime: new Set([...ANY, ...READS, ...WRITES, ...BLOBS]),
};
const KNOWN: ReadonlySet<unknown> = new Set([...ANY, ...READS, ...WRITES, ...ACTIONS]);
// By the kind of the caller.
const CALLED: Readonly<Partial<Record<Kind, ReadonlySet<unknown>>>> = {
  query: new Set(["query"]),
  mutation: new Set(["query", "snapshotQuery", "mutation"]),
};

interface Running {
  readonly udfType: Kind;
}

interface Arguments {
  readonly udfType?: unknown;
  readonly blob?: unknown;
}

// get-convex/convex-backend npm-packages/udf-runtime/src/storage.ts
const NO_BLOB =
  "store() expects a Blob. If you are trying to store a Request, `await request.blob()` will give you the correct input.";

/** Refuses what the running function may not do. Unknown operations are left to the caller. */
export function checkSyscall(running: Running | undefined, op: unknown, args: Arguments): void {
  const kind = running?.udfType;
  if (kind === undefined || !ALLOWED[kind].has(op)) {
    if (!KNOWN.has(op) && typeof op === "string") return;
    throw new Error(`Unknown async operation ${String(op)}`);
  }
  if (op === "1.0/runUdf" && CALLED[kind]?.has(args.udfType) !== true) {
    throw new Error(`Cannot call a ${titled(args.udfType)} function from a ${titled(kind)} function`);
  }
  if (op === "storage/storeBlob" && !(args.blob instanceof Blob)) throw new Error(NO_BLOB);
}

function titled(kind: unknown): string {
  const text = String(kind);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Refuses writes to tables that only the backend itself writes. */
export function checkWritable(table: unknown): void {
  if (typeof table !== "string") {
    throw new Error(`Invalid arguments for \`db.insert\`: ${wrongType(table, "a string")}`);
  }
  if (table.startsWith("_")) throw new Error("System tables can only be accessed with db.system.");
}
