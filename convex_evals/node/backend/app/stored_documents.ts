/** Reads for system functions, from where documents lie: no code that shares a realm with an app has a part in them. */

import { convexToJson, type Value } from "convex/values";
import type { ComponentData, StoredDocument } from "../data_store.ts";
import type { DocumentRead, JsonValue } from "../runtime_types.ts";

type Order = "asc" | "desc";

/** The committed state's answer to one request. */
export function readDocuments(data: ComponentData, request: DocumentRead): JsonValue {
  switch (request.op) {
    case "scan":
      return inOrder(data, request.table, request.order).slice(0, request.limit).map(asJson);
    case "page":
      return page(data, request);
    case "get":
      return request.ids.map(({ id, tableName }) => {
        const document = data.tableOf(id) === tableName ? data.get(id) : undefined;
        return document === undefined ? null : asJson(document);
      });
    default:
      throw request satisfies never;
  }
}

const END = "_end_cursor";

function page(data: ComponentData, { table, order, cursor, limit }: Extract<DocumentRead, { op: "page" }>): JsonValue {
  if (cursor === END) return { page: [], isDone: true, continueCursor: END };
  const rest =
    cursor === null
      ? inOrder(data, table, order)
      : behind(inOrder(data, table, order), order, JSON.parse(cursor) as [number, string]);
  const isDone = rest.length <= limit;
  const last = rest[limit - 1];
  return {
    page: rest.slice(0, limit).map(asJson),
    isDone,
    continueCursor: isDone ? END : JSON.stringify([last?.["_creationTime"], last?.["_id"]]),
  };
}

// Of the documents of that very time, those up to the last one were on the page before.
function behind(
  documents: readonly StoredDocument[],
  order: Order,
  [time, lastId]: [number, string],
): StoredDocument[] {
  const rest = documents.filter((document) =>
    order === "asc" ? creationTime(document) >= time : creationTime(document) <= time,
  );
  const last = rest.findIndex((document) => document["_id"] === lastId && creationTime(document) === time);
  return last === -1 ? rest.filter((document) => creationTime(document) !== time) : rest.slice(last + 1);
}

function inOrder(data: ComponentData, table: string, order: Order): StoredDocument[] {
  const documents = [...data.idsOf(table)].map((id) => data.get(id)!);
  return documents.sort((a, b) => (creationTime(a) - creationTime(b)) * (order === "asc" ? 1 : -1));
}

function creationTime(document: StoredDocument): number {
  return document["_creationTime"] as number;
}

function asJson(document: StoredDocument): JsonValue {
  return convexToJson(document as Value);
}
