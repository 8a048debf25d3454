/** Plain reads and writes for system functions. */

import { jsonToConvex, type JSONValue } from "convex/values";
import type { AnyDataModel, GenericDatabaseReader, GenericDatabaseWriter } from "convex/server";
import type { DocumentRequest } from "../app/runtime_types.ts";

type Writer = GenericDatabaseWriter<AnyDataModel>;

/** Runs one request inside the current transaction. */
export async function documentRequest(db: Writer, request: DocumentRequest): Promise<unknown> {
  switch (request.op) {
    case "scan":
      return await readerOf(db, request.table).query(request.table).order(request.order).take(request.limit);
    case "page":
      return await page(readerOf(db, request.table), request);
    case "get":
      return await Promise.all(request.ids.map(({ id, tableName }) => get(db, id, tableName)));
    case "insert": {
      const ids: string[] = [];
      for (const document of request.documents) ids.push(await db.insert(request.table, fields(document)));
      return ids;
    }
    case "patch":
      for (const id of request.ids ?? (await idsOf(db, request.table))) await db.patch(id as never, fields(request.fields));
      return null;
    case "replace":
      await db.replace(request.id as never, fields(request.document));
      return null;
    case "delete":
      for (const id of request.ids) await db.delete(id as never);
      return null;
    case "clear": {
      const found = await readerOf(db, request.table).query(request.table).order("asc").take(request.limit + 1);
      const ids = found.slice(0, request.limit).map((document) => String(document["_id"]));
      for (const id of ids) await db.delete(id as never);
      return { deleted: ids.length, last: ids.at(-1) ?? null, hasMore: found.length > request.limit };
    }
    default:
      throw request satisfies never;
  }
}

const END = "_end_cursor";

// `paginate` is not for components, and this is: https://docs.convex.dev/components/using#current-limitations
async function page(db: GenericDatabaseReader<AnyDataModel>, request: Extract<DocumentRequest, { op: "page" }>): Promise<object> {
  const { table, order, cursor, limit } = request;
  if (cursor === END) return { page: [], isDone: true, continueCursor: END };
  const [time, lastId] = cursor === null ? [null, null] : (JSON.parse(cursor) as [number, string]);
  const rest = db.query(table).withIndex("by_creation_time", (q) => (time === null ? q : order === "asc" ? q.gte("_creationTime", time) : q.lte("_creationTime", time)));
  const found: Record<string, unknown>[] = [];
  // Of the documents of that very time, those up to the last one were on the page before.
  let isBehindCursor = time !== null;
  for await (const document of rest.order(order)) {
    if (isBehindCursor && document["_creationTime"] === time) {
      isBehindCursor = document["_id"] !== lastId;
      continue;
    }
    found.push(document);
    if (found.length > limit) break;
  }
  const isDone = found.length <= limit;
  const last = found[limit - 1];
  return { page: found.slice(0, limit), isDone, continueCursor: isDone ? END : JSON.stringify([last?.["_creationTime"], last?.["_id"]]) };
}

async function get(db: Writer, id: string, table: string): Promise<unknown> {
  const reader = readerOf(db, table);
  const normalized = reader.normalizeId(table, id);
  return normalized === null ? null : await reader.get(normalized);
}

async function idsOf(db: Writer, table: string): Promise<string[]> {
  return (await db.query(table).collect()).map((document) => String(document["_id"]));
}

function readerOf(db: Writer, table: string): GenericDatabaseReader<AnyDataModel> {
  return table.startsWith("_") ? (db.system as unknown as GenericDatabaseReader<AnyDataModel>) : db;
}

function fields(document: unknown): Record<string, never> {
  return jsonToConvex(document as JSONValue) as Record<string, never>;
}
