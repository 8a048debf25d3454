/**
 * What the patched convex-test calls: every point where the embedded backend
 * differs from the published package. Rules live in the modules beside this one.
 */

import { host } from "embedded:host";

export { checkDocument } from "./document_limits.ts";
export { deterministicGlobals } from "./determinism.ts";
export { errorText, reportBackgroundError } from "./error_text.ts";
export { checkSearchQuery, checkVectorQuery, checkPageSize } from "./query_rules.ts";
export { checkAgainstSchema, checkArguments, checkReturns } from "./value_rules.ts";
export { blobFromBase64, blobToBase64, checkStorageId, fileMetadata, newFileFields } from "./files.ts";
export { validateValue } from "./validation.ts";
export { checkTransactionOpen, withinTimeLimit } from "./transactions.ts";

export const committedData = host.committedData;
export const lastCommitTs = host.lastCommitTs;
export const committed = host.commit;
export const acquireTransaction = host.acquireTransaction;
export const releaseTransaction = host.releaseTransaction;
export const journaledEndCursor = host.journaledEndCursor;
export const journalEndCursor = host.journalEndCursor;
export const jobScheduled = host.jobScheduled;
export const storageUrl = host.storageUrl;
export const uploadUrl = host.uploadUrl;
export const siteUrl = host.siteUrl;

/** Notes that the running function depends on `table`; ids of no table count as the empty one. */
export function recordRead(componentPath: string, table: string | null): void {
  host.recordRead(componentPath, table ?? "");
}

export function checkDecodableId(id: string, table: string | null): void {
  if (table === null) throw new Error(`Invalid argument \`id\` for \`db.get\`: Unable to decode ID: Invalid ID length ${id.length}`);
}

export function checkSchedulable(func: Record<string, unknown>, path: { udfPath: string }): void {
  if (func["isQuery"] === true) {
    throw new Error(`Cannot schedule query ${path.udfPath}. Only mutations and actions can be scheduled.`);
  }
}

/** What `getDeploymentMetadata` returns. */
export function deploymentMetadata(): { name: string; region: null; class: string } {
  return { name: "carnitas", region: null, class: "s16" };
}

export function unsupportedSyscall(op: string): never {
  throw new Error(`The embedded backend does not support \`${op}\`.`);
}

/** The default export of `convex/http.js`, or null when the app has no such module. */
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
