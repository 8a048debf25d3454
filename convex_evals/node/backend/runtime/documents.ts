/** Plain writes for system functions. */

import { jsonToConvex, type JSONValue } from "convex/values";
import type { AnyDataModel, GenericDatabaseReader, GenericDatabaseWriter } from "convex/server";
import type { DocumentWrite } from "../runtime_types.ts";

type Writer = GenericDatabaseWriter<AnyDataModel>;

/** Makes one change inside the current transaction. */
export async function changeDocuments(db: Writer, request: DocumentWrite): Promise<unknown> {
  switch (request.op) {
    case "insert": {
      const ids: string[] = [];
      for (const document of request.documents) ids.push(await db.insert(request.table, fields(document)));
      return ids;
    }
    case "patch":
      for (const id of request.ids ?? (await idsOf(db, request.table))) {
        await db.patch(id as never, fields(request.fields));
      }
      return null;
    case "replace":
      await db.replace(request.id as never, fields(request.document));
      return null;
    case "delete":
      for (const id of request.ids) await db.delete(id as never);
      return null;
    case "clear": {
      const found = await readerOf(db, request.table)
        .query(request.table)
        .order("asc")
        .take(request.limit + 1);
      const ids = found.slice(0, request.limit).map(({ _id }) => String(_id));
      for (const id of ids) await db.delete(id as never);
      return { deleted: ids.length, last: ids.at(-1) ?? null, hasMore: found.length > request.limit };
    }
    default:
      throw request satisfies never;
  }
}

async function idsOf(db: Writer, table: string): Promise<string[]> {
  return (await db.query(table).collect()).map(({ _id }) => String(_id));
}

function readerOf(db: Writer, table: string): GenericDatabaseReader<AnyDataModel> {
  return table.startsWith("_") ? (db.system as unknown as GenericDatabaseReader<AnyDataModel>) : db;
}

function fields(document: unknown): Record<string, never> {
  return jsonToConvex(document as JSONValue) as Record<string, never>;
}
