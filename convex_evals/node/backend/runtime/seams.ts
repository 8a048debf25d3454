/**
 * What the patched convex-test calls: every point where the embedded backend
 * differs from the published package. Rules live in the modules beside this one.
 */

import { canonicalPath } from "./function_paths.ts";
import { host } from "embedded:host";

export { checkDocument, checkPatch, checkSystemFields, checkWriteArguments } from "./document_limits.ts";
export { checkDocumentId, newDocumentId, tableOfId } from "./document_ids.ts";
export { openedCursor, sealedCursor } from "./cursors.ts";
export { createFunctionHandle, parseFunctionHandle } from "./function_handles.ts";
export { filterMatches } from "./filter_expressions.ts";
export { candidates, checkIndexRange, indexFields } from "./index_ranges.ts";
export { checkSyscall, checkWritable } from "./syscall_rules.ts";
export { isRegistered } from "./remote.ts";
export { searchText } from "./text_search.ts";
export { checkTransactionLimits, withConvexWording } from "./transaction_limits.ts";
export { acrossSyscall, dataAcrossSyscall, errorText, reportBackgroundError } from "./error_text.ts";
export { checkPageRequest, readPage } from "./pages.ts";
export { checkSearchPosition, checkSearchQuery, checkSinglePage, checkVectorQuery } from "./query_rules.ts";
export { checkQuery } from "./query_source.ts";
export {
  checkAgainstSchema,
  checkArguments,
  checkNestedArguments,
  checkResult,
  checkReturns,
  resultOf,
  syscallArguments,
} from "./value_rules.ts";
export { blobFromBase64, blobToBase64, checkStorageId, fileMetadata, newFileFields } from "./files.ts";
export {
  cancelJob,
  checkRunnable,
  checkSchedulable,
  jobFailed,
  jobSucceeded,
  patchUnlessCanceled,
  jobScheduled,
} from "./scheduling.ts";
export { canonicalPath } from "./function_paths.ts";
export { validateValue } from "./validation.ts";
export { checkTransactionOpen, runTransaction } from "./transactions.ts";

export const committedData = host.committedData;
export const lastCommitTs = host.lastCommitTs;
export const nextCommitTs = host.nextCommitTs;
export const nextCreationTime = host.nextCreationTime;
export const runAction = host.guardAction;
export const committing = host.committing;
export const committed = host.commit;
export const acquireTransaction = host.acquireTransaction;
export const releaseTransaction = host.releaseTransaction;
export const journaledEndCursor = host.journaledEndCursor;
export const journalEndCursor = host.journalEndCursor;
export const storageUrl = host.storageUrl;
export const uploadUrl = host.uploadUrl;
export const siteUrl = host.siteUrl;

/** Notes that the running function depends on `table`; ids of no table count as the empty one. */
export function recordRead(componentPath: string, table: string | null): void {
  host.recordRead(componentPath, table ?? "");
}

/** The error for a call of `func` as something else: get-convex/convex-backend crates/udf/src/validation.rs */
export function wrongType(path: { udfPath: string }, wanted: string, func: Record<string, unknown>): Error {
  const type = func["isQuery"] ? "Query" : func["isMutation"] ? "Mutation" : func["isAction"] ? "Action" : "HttpAction";
  return Object.assign(
    new Error(`Trying to execute ${canonicalPath(path)} as ${wanted}, but it is defined as ${type}.`),
    { failure: "wrong type" },
  );
}

/** What `getDeploymentMetadata` returns. */
export function deploymentMetadata(): { name: string; region: null; class: string } {
  return { name: "carnitas", region: null, class: "s16" };
}

export function unsupportedSyscall(op: string): never {
  throw new Error(`The embedded backend does not support \`${op}\`.`);
}

/** The default export of `convex/http.js`, or null when the app has no router. */
export async function httpRouter(load: (path: string) => Promise<Record<string, unknown>>): Promise<unknown> {
  try {
    return (await load("http"))["default"] ?? null;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("Could not find module for")) return null;
    throw error;
  }
}

export function httpActionsNotEnabled(): Response {
  return new Response("This Convex deployment does not have HTTP actions enabled.", { status: 404 });
}
