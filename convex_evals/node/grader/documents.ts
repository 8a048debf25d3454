/** Documents in and out of the candidate's tables, past its own functions, as the dashboard does it. */
import { makeFunctionReference } from "convex/server";
import type { GenericDocument } from "convex/server";
import type { GenericId } from "convex/values";
import type { GraderClient } from "./clients.ts";
import { adminClient } from "./clients.ts";

/** Any stored document. */
export type StoredDocument = GenericDocument & { _id: GenericId<string>; _creationTime: number };

const addDocument = makeFunctionReference<
  "mutation",
  { table: string; documents: GenericDocument[] },
  { success: boolean; error?: string }
>("_system/frontend/addDocument");
const listTableScan = makeFunctionReference<"query", { table: string; limit: number }, StoredDocument[]>(
  "_system/frontend/listTableScan",
);
const clearTablePage = makeFunctionReference<
  "mutation",
  { tableName: string; cursor: string | null },
  { deleted: number; hasMore: boolean; continueCursor: string }
>("_system/frontend/clearTablePage");

/** Inserts documents in this order in one transaction. The candidate's schema is enforced: an error names the table. */
export async function addDocuments(
  table: string,
  documents: GenericDocument[],
  client: GraderClient = adminClient(),
): Promise<void> {
  const result = await client.mutation(addDocument, { table, documents }).catch((error: unknown) => {
    throw new Error(`The table \`${table}\` must accept the documents that the task describes: ${messageOf(error)}`, {
      cause: error,
    });
  });
  if (!result.success) {
    throw new Error(
      `The table \`${table}\` must accept the documents that the task describes: ${result.error ?? "refused"}`,
    );
  }
}

/** All documents of a table (at most `limit`), oldest first. A table that does not exist has none. */
export async function listTable<T extends StoredDocument = StoredDocument>(
  table: string,
  { limit = 1000, client = adminClient() }: { limit?: number; client?: GraderClient } = {},
): Promise<T[]> {
  const newestFirst = await client.query(listTableScan, { table, limit });
  return newestFirst.toReversed() as T[];
}

/** Empties tables, for a test that must not see what another one left. */
export async function clearTables(...tables: string[]): Promise<void> {
  const client = adminClient();
  for (const tableName of tables) {
    let page: { hasMore: boolean; continueCursor: string } | undefined;
    do {
      page = await client.mutation(clearTablePage, { tableName, cursor: page?.continueCursor ?? null });
    } while (page.hasMore);
  }
}

/** A document's own fields: what can be compared between two deployments. */
export function ownFields(document: GenericDocument): GenericDocument {
  return Object.fromEntries(Object.entries(document).filter(([field]) => field !== "_id" && field !== "_creationTime"));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
