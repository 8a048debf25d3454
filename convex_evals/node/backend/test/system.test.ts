import assert from "node:assert/strict";
import { test } from "node:test";
import { deploy, errorOf, MESSAGES, MESSAGES_SCHEMA } from "./harness.ts";

const FILES = {
  "convex/schema.ts": MESSAGES_SCHEMA,
  "convex/messages.ts": `${MESSAGES}
    import { internalAction } from "./_generated/server";
    export const hidden = internalAction({ args: {}, handler: async () => null });
    export const bare = query(async () => null);`,
  "convex/http.ts": `
    import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server";
    const http = httpRouter(); http.route({ path: "/x", method: "GET", handler: httpAction(async () => new Response()) }); export default http;`,
};

interface Row {
  readonly _id: string;
  readonly author: string;
}

test("system functions", async (t) => {
  const { admin, http } = await deploy(t, FILES, { env: { B: "2", A: "1" } });
  const query = async <T>(path: string, args: object = {}): Promise<T> =>
    await admin.query(path as never, args as never);
  const mutation = async (path: string, args: object): Promise<unknown> =>
    await admin.mutation(path as never, args as never);
  const rows = (): Promise<Row[]> => query<Row[]>("_system/frontend/listTableScan", { table: "messages", limit: 100 });

  await t.test("documents in and out, newest first", async () => {
    const documents = [
      { author: "a", body: "1" },
      { author: "b", body: "2" },
    ];
    assert.deepEqual(await mutation("_system/frontend/addDocument", { table: "messages", documents }), {
      success: true,
    });
    assert.deepEqual(
      (await rows()).map((row) => row.author),
      ["b", "a"],
    );
  });

  await t.test("documents that the schema refuses are not added, nor are their neighbours", async () => {
    const error = await errorOf(() =>
      mutation("_system/frontend/addDocument", {
        table: "messages",
        documents: [{ author: "c", body: "" }, { author: 1 }],
      }),
    );
    assert.match(
      String(error.data),
      /does not match the schema: Object is missing the required field `body`|Value does not match/,
    );
    assert.equal((await rows()).length, 2);
  });

  await t.test("patch, replace, look up, delete, clear", async () => {
    const [newest, oldest] = (await rows()) as [Row, Row];
    await mutation("_system/frontend/patchDocumentsFields", {
      table: "messages",
      ids: [oldest._id],
      fields: { author: "patched" },
    });
    await mutation("_system/frontend/replaceDocument", { id: newest._id, document: { author: "replaced", body: "" } });
    const found = await query<(Row | null)[]>("_system/frontend/listById", {
      ids: [
        { id: oldest._id, tableName: "messages" },
        { id: "nonsense", tableName: "messages" },
      ],
    });
    assert.deepEqual([found[0]?.author, found[1]], ["patched", null]);
    await mutation("_system/frontend/deleteDocuments", { toDelete: [{ id: oldest._id, tableName: "messages" }] });
    assert.deepEqual(
      (await rows()).map((row) => row.author),
      ["replaced"],
    );
    assert.deepEqual(await mutation("_system/frontend/clearTablePage", { tableName: "messages", cursor: null }), {
      deleted: 1,
      continueCursor: "_end_cursor",
      hasMore: false,
    });
    assert.deepEqual(await rows(), []);
  });

  await t.test("the schema and the functions, as deployed", async () => {
    const { active } = await query<{ active: string }>("_system/frontend/getSchemas");
    const messages = (JSON.parse(active) as { tables: { tableName: string; indexes: unknown[] }[] }).tables.find(
      (table) => table.tableName === "messages",
    );
    assert.deepEqual(messages?.indexes, [{ indexDescriptor: "by_author", fields: ["author", "_creationTime"] }]);
    const spec = await query<Record<string, unknown>[]>("_system/cli/modules:apiSpec");
    assert.deepEqual(
      spec.find((entry) => entry["functionType"] === "HttpAction"),
      { functionType: "HttpAction", method: "GET", path: "/x" },
    );
    assert.deepEqual(
      spec.find((entry) => entry["identifier"] === "messages.js:send"),
      {
        identifier: "messages.js:send",
        functionType: "Mutation",
        visibility: { kind: "public" },
        args: {
          type: "object",
          value: {
            author: { fieldType: { type: "string" }, optional: false },
            body: { fieldType: { type: "string" }, optional: false },
          },
        },
        returns: { type: "id", tableName: "messages" },
      },
    );
    assert.deepEqual(spec.find((entry) => entry["identifier"] === "messages.js:hidden")?.["visibility"], {
      kind: "internal",
    });
    assert.deepEqual(spec.find((entry) => entry["identifier"] === "messages.js:bare")?.["args"], { type: "any" });
  });

  await t.test("environment variables and tables", async () => {
    assert.deepEqual(
      (await query<{ name: string; value: string }[]>("_system/cli/queryEnvironmentVariables")).map(
        ({ name, value }) => `${name}=${value}`,
      ),
      ["A=1", "B=2"],
    );
    assert.equal(
      (await query<{ value: string } | null>("_system/cli/queryEnvironmentVariables:get", { name: "B" }))?.value,
      "2",
    );
    assert.deepEqual(
      (await query<{ page: unknown }>("_system/cli/tables", { paginationOpts: { numItems: 10, cursor: null } })).page,
      [{ name: "counters" }, { name: "messages" }],
    );
  });

  await t.test("only administrators, and only what exists", async () => {
    assert.match(
      (await errorOf(() => http.query("_system/frontend/getSchemas" as never, {}))).message,
      /Could not find public function for '_system\/frontend\/getSchemas'/,
    );
    assert.match(
      (await errorOf(() => query("_system/frontend/nope"))).message,
      /Could not find function for '_system\/frontend\/nope'/,
    );
    assert.match((await errorOf(() => query("_system/toString"))).message, /Could not find function/);
    assert.match((await errorOf(() => query("_system/frontend/listTableScan", {}))).message, /ArgumentValidationError/);
  });
});
