/** What Convex says of operations that an action did not await. */

/** What it calls an operation: get-convex/convex-backend crates/isolate/src/environment/action/task.rs */
export function operationName(op: string): string {
  if (op === "storage/storeBlob") return "storage.store";
  if (op === "storage/getBlob") return "storage.get";
  return op.replace("1.0/", "").replace("actions/", "");
}

/** Its warning: get-convex/convex-backend crates/isolate/src/environment/action/mod.rs add_warnings_to_log_lines */
export function unawaitedWarning(names: readonly string[]): string {
  const each = [...new Set(names)].sort().join(", ");
  return `${names.length} unawaited operation${names.length === 1 ? "" : "s"}: [${each}]. Async operations should be awaited or they might not run. See https://docs.convex.dev/functions/actions#dangling-promises for more information.`;
}
