/** System functions that read and write documents, as the dashboard and graders use them. */

import type { App } from "../app/app.ts";
import type { DocumentRead, DocumentWrite, FunctionResult, JsonValue } from "../runtime_types.ts";
import { listArg, numberArg, pageArg, stringArg } from "./arguments.ts";
import { SystemFunctionError, type SystemFunction } from "./system_function.ts";

const MAX_INSERTED = 4096;
const MAX_DELETED = 4096;
const CLEAR_PAGE_SIZE = 4000;

async function run(app: App, componentPath: string, request: DocumentWrite): Promise<JsonValue> {
  return valueOf(await app.changeDocuments(componentPath, request));
}

async function read(app: App, componentPath: string, request: DocumentRead): Promise<JsonValue> {
  return valueOf(await app.readDocuments(componentPath, request));
}

function valueOf(result: FunctionResult): JsonValue {
  if (!result.ok) throw new SystemFunctionError(result.errorMessage, result.errorData);
  return result.value;
}

// The dashboard shows the message of a refused write as it is.
async function runRewrapped(app: App, componentPath: string, request: DocumentWrite): Promise<JsonValue> {
  const result = await app.changeDocuments(componentPath, request);
  if (result.ok) return result.value;
  const message = result.errorMessage.replace(/^Uncaught \w+: /, "").split("\n    at ", 1)[0] ?? "";
  throw new SystemFunctionError(`Uncaught ConvexError: ${message}`, message);
}

export const addDocument: SystemFunction = async (app, args, componentPath): Promise<JsonValue> => {
  const documents = listArg(args, "documents");
  if (documents.length > MAX_INSERTED) {
    return { success: false, error: `Can’t import more than ${MAX_INSERTED} documents at once.` };
  }
  await runRewrapped(app, componentPath, { op: "insert", table: stringArg(args, "table"), documents });
  return { success: true };
};

export const listTableScan: SystemFunction = async (app, args, componentPath) => {
  const table = stringArg(args, "table");
  if (table === "") return [];
  return await read(app, componentPath, { op: "scan", table, order: "desc", limit: numberArg(args, "limit") });
};

export const clearTablePage: SystemFunction = async (app, args, componentPath) => {
  const request = { op: "clear", table: stringArg(args, "tableName"), limit: CLEAR_PAGE_SIZE } as const;
  const { deleted, last, hasMore } = (await run(app, componentPath, request)) as {
    deleted: number;
    last: string | null;
    hasMore: boolean;
  };
  return { deleted, continueCursor: hasMore ? (last ?? "") : "_end_cursor", hasMore };
};

export const listById: SystemFunction = async (app, args, componentPath) => {
  const ids = listArg(args, "ids") as { id: string; tableName: string }[];
  return await read(app, componentPath, { op: "get", ids });
};

export const getById: SystemFunction = async (app, args, componentPath) => {
  const id = stringArg(args, "id");
  const table = app.store
    .component(componentPath)
    .tableNames()
    .find((name) => id.endsWith(name));
  if (table === undefined) return null;
  const [document] = (await read(app, componentPath, { op: "get", ids: [{ id, tableName: table }] })) as JsonValue[];
  return document ?? null;
};

// Clients cannot send `undefined`; the dashboard sends this text for it.
const UNDEFINED_PLACEHOLDER =
  "__CONVEX_PLACEHOLDER_undefined_I23atX0jcndVbFgXoQZffsih7eAqktCyFjgUuAeNBtfr3ySOljPSPSEOPFgprkdBO3zXNiGEJxmJ5ZFPc5C5qKesG80QRPvlJe8vgSxAt9feLTwxTg4PHfVwUaTEJU67FDwldWmTxp1guMPwxQ2jOuhEryTBf3mQ";

export const patchDocumentsFields: SystemFunction = async (app, args, componentPath) => {
  const fields = (args["fields"] ?? {}) as { [name: string]: JsonValue };
  const patch = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value === UNDEFINED_PLACEHOLDER ? { $undefined: null } : value,
    ]),
  );
  const ids = Array.isArray(args["ids"]) ? (args["ids"] as string[]) : null;
  await runRewrapped(app, componentPath, { op: "patch", table: stringArg(args, "table"), ids, fields: patch });
  return { success: true };
};

export const replaceDocument: SystemFunction = async (app, args, componentPath) => {
  await runRewrapped(app, componentPath, {
    op: "replace",
    id: stringArg(args, "id"),
    document: args["document"] ?? {},
  });
  return { success: true };
};

export const deleteDocuments: SystemFunction = async (app, args, componentPath): Promise<JsonValue> => {
  const toDelete = listArg(args, "toDelete") as { id: string }[];
  if (toDelete.length > MAX_DELETED) {
    return {
      success: false,
      error: `You can't delete more than ${MAX_DELETED}. Try selecting fewer documents instead..`,
    };
  }
  await run(app, componentPath, { op: "delete", ids: toDelete.map(({ id }) => id) });
  return { success: true };
};

export const tableData: SystemFunction = async (app, args, componentPath) => {
  const { cursor, numItems } = pageArg(args);
  const order = args["order"] === "asc" ? "asc" : "desc";
  return await read(app, componentPath, {
    op: "page",
    table: stringArg(args, "table"),
    order,
    cursor,
    limit: numItems,
  });
};

/** Changes whenever the table does: the CLI watches tables with it. */
export const queryTable: SystemFunction = async () => Math.random();
