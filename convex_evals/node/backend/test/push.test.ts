import assert from "node:assert/strict";
import { brotliCompressSync } from "node:zlib";
import { test } from "node:test";
import { buildPushRequest } from "../../push/request.ts";
import { ADMIN_KEY } from "../versions.ts";
import {
  api,
  deploy,
  emptyBackend,
  makeProject,
  MESSAGES,
  MESSAGES_SCHEMA,
  post,
  startPush,
  type Files,
} from "./harness.ts";

const schema = (body: string): Files => ({
  "convex/schema.ts": `import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ ${body} });`,
});
const module = (name: string, body: string): Files => ({
  [`convex/${name}.ts`]: `import { query, mutation, action, internalMutation, httpAction } from "./_generated/server"; import { internal } from "./_generated/api"; import { v } from "convex/values"; import { cronJobs, httpRouter } from "convex/server"; ${body}`,
});
const t1 =
  "t: defineTable({ a: v.string(), list: v.array(v.string()), o: v.object({ inner: v.number() }), vec: v.array(v.float64()) })";

const REFUSED: readonly (readonly [string, Files, string, RegExp])[] = [
  [
    "a module that throws",
    module("m", 'throw new Error("at import");'),
    "InvalidModules",
    /Hit an error while pushing:\nLoading the pushed modules encountered the following\n {4}error:\nFailed to analyze m\.js: Uncaught Error: at import\n {4}at .*\.\.\/convex\/m\.ts:1:\d+/,
  ],
  [
    "a schema without default export",
    { "convex/schema.ts": "export const x = 1;" },
    "MissingSchemaExportError",
    /Schema file missing default export/,
  ],
  [
    "a schema of the wrong kind",
    { "convex/schema.ts": "export default { a: 1 };" },
    "InvalidSchemaExport",
    /isn't a Convex schema/,
  ],
  ["a table name that starts with a digit", schema('"1t": defineTable({})'), "InvalidTableName", /1t/],
  ["a reserved table name", schema("_t: defineTable({})"), "TableNameReserved", /_t is a reserved table name/],
  [
    "an index over an unknown field",
    schema(`${t1}.index("by_x", ["x"])`),
    "SchemaDefinitionError",
    /the index "by_x" is invalid because it references the field x that does not exist/,
  ],
  [
    "an index over an unknown nested field",
    schema(`${t1}.index("by_x", ["o.nope"])`),
    "SchemaDefinitionError",
    /field o\.nope/,
  ],
  [
    "an index with _creationTime",
    schema(`${t1}.index("by_x", ["a", "_creationTime"])`),
    "IndexFieldsContainCreationTime",
    /automatically added/,
  ],
  [
    "an index without fields",
    schema(`t: (defineTable({ a: v.string() }) as any).index("by_x", [])`),
    "EmptyIndex",
    /at least one field/,
  ],
  [
    "an index with a field twice",
    schema(`${t1}.index("by_x", ["a", "a"])`),
    "FieldsNotUniqueWithinIndex",
    /Duplicate field a/,
  ],
  [
    "two indexes of one name",
    schema(`${t1}.index("by_a", ["a"]).index("by_a", ["o"])`),
    "IndexNamesNotUnique",
    /two or more/,
  ],
  ["a reserved index name", schema(`${t1}.index("by_id" as any, ["a"])`), "IndexNameReserved", /by_creation_time/],
  ["an invalid index name", schema(`${t1}.index("by-a", ["a"])`), "InvalidIndexName", /by-a/],
  [
    "a search index over an unknown field",
    schema(`${t1}.searchIndex("s", { searchField: "nope" as any })`),
    "SchemaDefinitionError",
    /index "s"/,
  ],
  [
    "a vector index of one dimension",
    schema(`${t1}.vectorIndex("v", { vectorField: "vec", dimensions: 1 })`),
    "InvalidVectorDimensionError",
    /between 2 and 4096/,
  ],
  [
    "a query under use node",
    {
      "convex/n.ts":
        '"use node";\nimport { query } from "./_generated/server"; export const q = query({ args: {}, handler: async () => 1 });',
    },
    "InvalidModules",
    /`q` defined in `n\.js` is a Query function\. Only actions can be defined in Node\.js/,
  ],
  [
    "http without default export",
    module("http", "export const x = 1;"),
    "InvalidModules",
    /must have a default export of a Router/,
  ],
  ["http with another default export", module("http", "export default {};"), "InvalidModules", /is not a Router/],
  [
    "crons without default export",
    module("crons", "export const x = 1;"),
    "InvalidModules",
    /default export of a Crons object/,
  ],
  [
    "a cron of a function that does not exist",
    module(
      "crons",
      'const c = cronJobs(); c.daily("d", { hourUTC: 1, minuteUTC: 0 }, (internal as any).m.nope); export default c;',
    ),
    "InvalidModules",
    /does not exist/,
  ],
  [
    "a cron of a query",
    {
      ...module("m", "export const q = query({ args: {}, handler: async () => 1 });"),
      ...module(
        "crons",
        'const c = cronJobs(); c.daily("d", { hourUTC: 1, minuteUTC: 0 }, (internal as any).m.q); export default c;',
      ),
    },
    "InvalidModules",
    /schedules a query function/,
  ],
  [
    "a cron with a bad expression",
    {
      ...module("m", "export const f = internalMutation({ args: {}, handler: async () => {} });"),
      ...module("crons", 'const c = cronJobs(); c.cron("d", "61 * * * *", (internal as any).m.f); export default c;'),
    },
    "InvalidCron",
    /Failed to parse cron expression/,
  ],
  [
    "a function name with a dollar",
    module("m", "export const $q = query({ args: {}, handler: async () => 1 });"),
    "InvalidFunctionName",
    /\$q/,
  ],
  [
    "an unset variable in auth.config",
    { "convex/auth.config.ts": "export default { providers: [{ domain: process.env.ISSUER!, applicationID: 'x' }] };" },
    "AuthConfigMissingEnvironmentVariable",
    /Environment variable ISSUER is used in auth config file but its value was not set/,
  ],
  [
    "an auth.config without providers",
    { "convex/auth.config.ts": "export default {};" },
    "InvalidAuthConfig",
    /list of provider credentials/,
  ],
];

const ACCEPTED: readonly (readonly [string, Files])[] = [
  ["an empty app", { "convex/readme.ts": "export const x = 1;" }],
  [
    "indexes over nested, optional and union fields",
    schema(
      't: defineTable(v.union(v.object({ k: v.literal("a"), x: v.number() }), v.object({ k: v.literal("b"), y: v.optional(v.string()) }))).index("by_k", ["k"]).index("by_x", ["x"]), u: defineTable({ o: v.object({ p: v.id("t") }) }).index("by_p", ["o.p"])',
    ),
  ],
  [
    "a schema that is not enforced",
    {
      "convex/schema.ts":
        'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ t: defineTable({ a: v.id("nowhere") }).index("by_b", ["b" as any]) }, { schemaValidation: false });',
    },
  ],
  [
    "search and vector indexes",
    schema(
      `${t1}.searchIndex("s", { searchField: "a", filterFields: ["o.inner"] }).vectorIndex("v", { vectorField: "vec", dimensions: 3, filterFields: ["a"] })`,
    ),
  ],
  ["helpers", module("m", "export const helper = () => 2; export const q = query(async () => helper());")],
  [
    "tables that refer to each other and to system tables",
    schema(
      'a: defineTable({ b: v.id("b"), f: v.id("_storage"), s: v.id("_scheduled_functions") }), b: defineTable({ a: v.optional(v.id("a")) })',
    ),
  ],
];

test("pushes that Convex's server refuses", async (t) => {
  const backend = await emptyBackend(t);
  for (const [what, files, code, message] of REFUSED) {
    await t.test(what, async (tt) => {
      const { status, body } = await startPush(backend, makeProject(tt, files));
      assert.equal(status, 400, JSON.stringify(body).slice(0, 300));
      assert.match(String(body["message"]), message);
      assert.equal(body["code"], code);
    });
  }
});

test("pushes that it accepts", async (t) => {
  const backend = await emptyBackend(t);
  for (const [what, files] of ACCEPTED) {
    await t.test(what, async (tt) => {
      const { status, body } = await startPush(backend, makeProject(tt, files));
      assert.equal(status, 200, JSON.stringify(body));
    });
  }
});

test("pushing again", async (t) => {
  const files = { "convex/schema.ts": MESSAGES_SCHEMA, "convex/messages.ts": MESSAGES };
  const { http, backend, redeploy } = await deploy(t, files);
  await http.mutation(api.messages!.send, { author: "a", body: "b" });

  await t.test("a push that fails leaves the running app alone", async () => {
    assert.equal((await redeploy({ ...files, ...module("bad", "throw new Error('x')") })).status, 400);
    assert.equal(((await http.query(api.messages!.list)) as unknown[]).length, 1);
  });

  await t.test("documents must match the new schema", async () => {
    const stricter = {
      ...files,
      "convex/schema.ts": MESSAGES_SCHEMA.replace("author: v.string()", "author: v.string(), rating: v.number()"),
      "convex/messages.ts": "export const nothing = 1;",
    };
    const answer = await redeploy(stricter);
    assert.equal(answer.body["type"], "failed");
    assert.match(
      String(answer.body["error"]),
      /Document with ID "\w+" in table "messages" does not match the schema: Object is missing the required field `rating`/,
    );
    assert.equal(((await http.query(api.messages!.list)) as unknown[]).length, 1);
  });

  await t.test("the code is replaced and the data is kept", async () => {
    const next = {
      ...files,
      "convex/messages.ts": MESSAGES.replace(".collect()", ".order('desc').take(1)"),
      ...module("more", "export const one = query(async () => 1);"),
    };
    assert.equal((await redeploy(next)).status, 200);
    await http.mutation(api.messages!.send, { author: "second", body: "b" });
    assert.deepEqual(
      ((await http.query(api.messages!.list)) as { author: string }[]).map((message) => message.author),
      ["second"],
    );
    assert.equal(await http.query(api.more!.one), 1);
  });

  await t.test("a dry run changes nothing", async (tt) => {
    const started = await startPush(backend, makeProject(tt, module("dry", "export const x = query(async () => 1);")));
    const finished = await post(`${backend.url}/api/deploy2/finish_push`, {
      adminKey: ADMIN_KEY,
      startPush: started.body,
      dryRun: true,
    });
    assert.equal(finished.status, 200);
    assert.equal(await http.query(api.more!.one), 1);
  });
});

test("requests of a push", async (t) => {
  const backend = await emptyBackend(t);
  const url = `${backend.url}/api/deploy2/start_push`;
  const request = {
    ...(await buildPushRequest(makeProject(t, module("m", "export const q = query(async () => 1);")))),
    adminKey: ADMIN_KEY,
  };

  await t.test("compressed bodies", async () => {
    const send = (body: Uint8Array): Promise<Response> =>
      fetch(url, { method: "POST", headers: { "content-encoding": "br" }, body: new Uint8Array(body) });
    assert.equal((await send(brotliCompressSync(JSON.stringify(request)))).status, 200);
    assert.equal((await send(new Uint8Array([1, 2, 3]))).status, 400);
  });

  await t.test("a wrong key and wrong shapes are refused", async () => {
    assert.equal((await post(url, { ...request, adminKey: "nope" })).status, 401);
    for (const body of [
      null,
      [],
      1,
      {},
      { adminKey: ADMIN_KEY },
      { ...request, appDefinition: 7 },
      { ...request, componentDefinitions: [{}] },
    ]) {
      const { status } = await post(url, body);
      assert.ok(status === 400 || status === 401, `${JSON.stringify(body)?.slice(0, 50)}: ${status}`);
    }
    assert.equal(
      (await post(`${backend.url}/api/deploy2/finish_push`, { adminKey: ADMIN_KEY, startPush: {}, dryRun: false }))
        .status,
      400,
    );
    assert.equal((await post(`${backend.url}/api/deploy2/constructor`, { adminKey: ADMIN_KEY })).status, 404);
  });
});
