/** File storage. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const STORE = "https://docs.convex.dev/file-storage/store-files";
const SERVE = "https://docs.convex.dev/file-storage/serve-files";
const METADATA = "https://docs.convex.dev/file-storage/file-metadata";
const UPLOAD = "https://docs.convex.dev/file-storage/upload-files";
const DELETE = "https://docs.convex.dev/file-storage/delete-files";
// "1.48.0": "`ctx.storage.store()` and `ctx.storage.get()` are now available in mutations, not just actions."
const IN_MUTATIONS = "https://github.com/get-convex/convex-backend/blob/main/npm-packages/convex/CHANGELOG.md";

// In base 64, though the documentation says base 16.
const DOCUMENTS = "get-convex/convex-backend crates/model/src/file_storage/virtual_table.rs";
const SYSTEM_TABLES = "npm convex/src/server/schema.ts";
const LOCAL_BACKEND = "get-convex/convex-backend crates/local_backend/src/storage.rs";
const ACTION = "get-convex/convex-backend crates/isolate/src/environment/action/storage.rs";

// SHA-256 of "abc".
const ABC = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
const ABC_HEX = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const FILES = {
  ...schemaFile('docs: defineTable({ file: v.id("_storage") })'),
  ...moduleFile(
    "f",
    `
export const store = action({ args: { text: v.string(), type: v.optional(v.string()) }, handler: async (ctx, { text, type }): Promise<any> => await ctx.storage.store(new Blob([text], type ? { type } : {})) });
export const keep = mutation({ args: {}, handler: async (ctx) => { const id = await ctx.storage.store(new Blob(["abc"], { type: "text/plain" })); const blob = await ctx.storage.get(id); return blob && [await blob.text(), blob.type]; } });
export const keepAndFail = mutation({ args: {}, handler: async (ctx) => { await ctx.storage.store(new Blob(["abc"])); throw new Error("no"); } });
export const tryKeep = action({ args: {}, handler: async (ctx): Promise<any> => { try { await ctx.runMutation(api.f.keepAndFail, {}); } catch {} return await ctx.runQuery(api.f.all, {}); } });
export const url = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => (await ctx.storage.getUrl(id)) !== null });
export const text = action({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { const blob = await ctx.storage.get(id); return blob && [await blob.text(), blob.type]; } });
export const download = action({ args: { id: v.id("_storage") }, handler: async (ctx, { id }): Promise<any> => { const response = await fetch((await ctx.storage.getUrl(id))!, { headers: { range: "bytes=1-1" } }); return [response.status, await response.text(), response.headers.get("content-type"), response.headers.get("content-range")]; } });
export const metadata = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { const { _id, _creationTime, ...rest } = (await ctx.db.system.get(id)) as any; return { ...rest, same: _id === id, time: typeof _creationTime }; } });
export const all = query({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_storage").collect()).length });
export const remove = mutation({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => await ctx.storage.delete(id) });
export const removeAndFail = mutation({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { await ctx.storage.delete(id); throw new Error("no"); } });
export const tryRemove = action({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { try { await ctx.runMutation(api.f.removeAndFail, { id }); } catch {} return (await ctx.storage.get(id)) !== null; } });
export const attach = mutation({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { await ctx.db.insert("docs", { file: id }); return true; } });
export const upload = mutation({ args: {}, handler: async (ctx) => await ctx.storage.generateUploadUrl() });
export const uploaded = action({ args: { body: v.string() }, handler: async (ctx, { body }): Promise<any> => { const response = await fetch(await ctx.runMutation(api.f.upload, {}), { method: "POST", headers: { "content-type": "text/x-own" }, body }); const { storageId } = await response.json(); return await ctx.runQuery(api.f.metadata, { id: storageId }); } });
export const badUpload = action({ args: {}, handler: async (ctx): Promise<any> => { const url = new URL(await ctx.runMutation(api.f.upload, {})); url.searchParams.set("token", "wrong"); const response = await fetch(url, { method: "POST", body: "x" }); return response.ok; } });
export const address = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => await ctx.storage.getUrl(id) });
export const oldMetadata = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { const { storageId, ...rest } = (await ctx.storage.getMetadata(id))!; return { ...rest, same: storageId === id }; } });
export const uploadWith = action({ args: { headers: v.any() }, handler: async (ctx, { headers }): Promise<any> => (await fetch(await ctx.runMutation(api.f.upload, {}), { method: "POST", headers, body: "abc" })).status });
export const storeAs = action({ args: { sha256: v.string() }, handler: async (ctx, { sha256 }): Promise<any> => { const id = await ctx.storage.store(new Blob(["abc"]), { sha256 }); return typeof id; } });
export const storeText = action({ args: {}, handler: async (ctx) => await ctx.storage.store("abc" as any) });
export const write = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("_storage" as any, { size: 1 } as any); } });
export const plainGet = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => await (ctx.db as any).get(id) });
`,
  ),
};

const store: Step = { call: "action", path: "f:store", args: { text: "abc", type: "text/plain" } };
const withId = (call: "query" | "mutation" | "action", path: string): Step => ({
  call,
  path: `f:${path}`,
  args: (results) => ({ id: results[0] }),
});

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `files/${id}`, rule, citation, files: FILES, steps, expected };
}

const storeAs = (sha256: string): Step => ({ call: "action", path: "f:storeAs", args: { sha256 } });

const download = (rest: { readonly init?: RequestInit; readonly header?: string }): Step[] => [
  store,
  withId("query", "address"),
  { request: (results) => String(results[1]), ...rest },
];

const upload = (headers: Record<string, string>): Step[] => [
  { call: "action", path: "f:uploadWith", args: { headers } },
];

export const rows: readonly Row[] = [
  row("store", "Actions store blobs and read them back.", STORE, [store, withId("action", "text")], {
    value: ["abc", "text/plain"],
  }),
  row(
    "store-mutation",
    "Mutations store blobs and read them back.",
    IN_MUTATIONS,
    [{ call: "mutation", path: "f:keep" }],
    {
      value: ["abc", "text/plain"],
    },
  ),
  row(
    "store-rollback",
    "A mutation that fails stores nothing.",
    IN_MUTATIONS,
    [{ call: "action", path: "f:tryKeep" }],
    {
      value: 0,
    },
  ),
  row(
    "metadata",
    "A file's digest, size and type are in a system table.",
    DOCUMENTS,
    [store, withId("query", "metadata")],
    { value: { sha256: ABC, size: 3, contentType: "text/plain", same: true, time: "number" } },
  ),
  row(
    "no-type",
    "A file without a type has none.",
    SYSTEM_TABLES,
    [{ call: "action", path: "f:store", args: { text: "abc" } }, withId("query", "metadata")],
    { value: { sha256: ABC, size: 3, same: true, time: "number" } },
  ),
  row("url", "A file has a URL.", SERVE, [store, withId("query", "url")], { value: true }),
  row("range", "Its URL serves parts of it too.", SERVE, [store, withId("action", "download")], {
    value: [206, "b", "text/plain", "bytes 1-1/3"],
  }),
  row("attach", "Documents refer to files.", METADATA, [store, withId("mutation", "attach")], { value: true }),
  row(
    "upload",
    "What is posted to an upload URL becomes a file.",
    UPLOAD,
    [{ call: "action", path: "f:uploaded", args: { body: "abc" } }],
    { value: { sha256: ABC, size: 3, contentType: "text/x-own", same: true, time: "number" } },
  ),
  row("bad-upload", "An upload needs a token of this deployment.", UPLOAD, [{ call: "action", path: "f:badUpload" }], {
    value: false,
  }),
  row(
    "delete",
    "A deleted file is gone.",
    DELETE,
    [store, withId("mutation", "remove"), { call: "query", path: "f:all" }],
    { value: 0 },
  ),
  row("delete-url", "It has no URL any more.", SERVE, [store, withId("mutation", "remove"), withId("query", "url")], {
    value: false,
  }),
  row(
    "delete-get",
    "It cannot be read any more.",
    DELETE,
    [store, withId("mutation", "remove"), withId("action", "text")],
    { value: null },
  ),
  row("delete-rollback", "A mutation that fails deletes nothing.", DELETE, [store, withId("action", "tryRemove")], {
    value: true,
  }),
  row(
    "delete-twice",
    "What is not there cannot be deleted.",
    DELETE,
    [store, withId("mutation", "remove"), withId("mutation", "remove")],
    { rejects: /storage id .* not found/ },
  ),
  row(
    "foreign-id",
    "Ids of files have to be ids.",
    "https://docs.convex.dev/functions/validation",
    [{ call: "query", path: "f:url", args: { id: "nonsense" } }],
    { rejects: "ArgumentValidationError" },
  ),
  row(
    "system-write",
    "The table of files is written by storage only.",
    METADATA,
    [{ call: "mutation", path: "f:write" }],
    { rejects: "System tables (prefixed with `_`) are read-only." },
  ),
  row("system-read", "It is read through db.system only.", METADATA, [store, withId("query", "plainGet")], {
    rejects: /System documents can only be accessed|db\.system|system table/,
  }),
  row(
    "old-metadata",
    "`storage.getMetadata` gives the digest in base 16.",
    METADATA,
    [store, withId("query", "oldMetadata")],
    {
      value: { sha256: ABC_HEX, size: 3, contentType: "text/plain", same: true },
    },
  ),
  row("store-digest", "A file is stored if it has the digest that is given.", ACTION, [storeAs(ABC)], {
    value: "string",
  }),
  row("store-other-digest", "It is not if it has another one.", ACTION, [storeAs(`${"A".repeat(43)}=`)], {
    rejects: /mismatch/i,
  }),
  row("store-hex-digest", "The digest is in base 64.", ACTION, [storeAs(ABC_HEX)], { rejects: /invalid HTTP header/ }),
  row(
    "store-text",
    "Only blobs are stored.",
    "get-convex/convex-backend npm-packages/udf-runtime/src/storage.ts",
    [{ call: "action", path: "f:storeText" }],
    {
      rejects:
        "store() expects a Blob. If you are trying to store a Request, `await request.blob()` will give you the correct input.",
    },
  ),
  row("download-digest", "A download has a header with its digest.", LOCAL_BACKEND, download({ header: "digest" }), {
    value: { status: 200, body: "abc", header: `sha-256=${ABC}` },
  }),
  row("download-cache", "Files may be kept for 30 days.", LOCAL_BACKEND, download({ header: "cache-control" }), {
    value: { status: 200, body: "abc", header: "private, max-age=2592000" },
  }),
  row(
    "download-part-digest",
    "A part of one has none.",
    LOCAL_BACKEND,
    download({ header: "digest", init: { headers: { range: "bytes=1-" } } }),
    {
      value: { status: 206, body: "bc", header: null },
    },
  ),
  row(
    "download-ranges",
    "Several ranges at once are not served.",
    LOCAL_BACKEND,
    download({ init: { headers: { range: "bytes=0-0,2-2" } } }),
    {
      value: { status: 416, body: "" },
    },
  ),
  row(
    "upload-digest",
    "An upload may say which digest it has.",
    LOCAL_BACKEND,
    upload({ digest: `sha-256=${"A".repeat(43)}=` }),
    { value: 400 },
  ),
  row("upload-right-digest", "It is taken if it has it.", LOCAL_BACKEND, upload({ digest: `sha-256=${ABC}` }), {
    value: 200,
  }),
];
