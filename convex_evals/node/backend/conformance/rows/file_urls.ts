/** Uploads and downloads by URL, and the digests and types that they are checked by. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const OVER_HTTP = "https://github.com/get-convex/convex-backend/blob/main/crates/local_backend/src/storage.rs";
const STORE = "https://github.com/get-convex/convex-backend/blob/main/crates/isolate/src/environment/action/storage.rs";
const ENTRIES = "https://github.com/get-convex/convex-backend/blob/main/crates/file_storage/src/core.rs";

// SHA-256 of "abc".
const ABC = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
const OTHER = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const HEX = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const FILES = moduleFile(
  "u",
  `
export const upload = mutation({ args: {}, handler: async (ctx) => await ctx.storage.generateUploadUrl() });
export const url = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => await ctx.storage.getUrl(id) });
export const post = action({ args: { headers: v.record(v.string(), v.string()) }, handler: async (ctx, { headers }): Promise<any> => { const response = await fetch(await ctx.runMutation(api.u.upload, {}), { method: "POST", headers, body: "abc" }); const { storageId, ...rest } = await response.json(); return [response.status, typeof storageId, rest.code ?? null, rest.message ?? null]; } });
export const get = action({ args: { headers: v.record(v.string(), v.string()), names: v.array(v.string()) }, handler: async (ctx, { headers, names }): Promise<any> => { const id = await ctx.storage.store(new Blob(["abc"], { type: "text/plain" })); const response = await fetch((await ctx.runQuery(api.u.url, { id }))!, { headers }); return [response.status, await response.text(), ...names.map((name) => response.headers.get(name))]; } });
export const at = action({ args: { path: v.string() }, handler: async (ctx, { path }): Promise<any> => { const url = new URL(path, await ctx.runMutation(api.u.upload, {})); const response = await fetch(url); const { code, message } = await response.json(); return [response.status, code, message]; } });
export const store = action({ args: { type: v.optional(v.string()), sha256: v.optional(v.string()) }, handler: async (ctx, { type, sha256 }): Promise<any> => typeof (await ctx.storage.store(new Blob(["abc"], { type: type ?? "" }), sha256 === undefined ? undefined : { sha256 })) });
export const keep = mutation({ args: { sha256: v.string() }, handler: async (ctx, { sha256 }) => typeof (await ctx.storage.store(new Blob(["abc"]), { sha256 })) });
`,
);

function row(id: string, rule: string, citation: string, path: string, args: object, expected: Expected): Row {
  const call = path === "keep" ? "mutation" : "action";
  const steps = [{ call, path: `u:${path}`, args: { ...args } } as const];
  return { id: `file-urls/${id}`, rule, citation, files: FILES, steps, expected };
}

const posted = (id: string, rule: string, headers: object, value: unknown[]): Row =>
  row(id, rule, OVER_HTTP, "post", { headers }, { value });

const BAD_DIGEST = [400, "undefined", "BadHeader", "Bad header for digest: invalid HTTP header"];

export const rows: readonly Row[] = [
  posted("digest", "An upload with the right digest is kept.", { digest: `sha-256=${ABC}` }, [
    200,
    "string",
    null,
    null,
  ]),
  row(
    "digest-mismatch",
    "An upload with the digest of something else is not.",
    ENTRIES,
    "post",
    { headers: { digest: `sha-256=${OTHER}` } },
    { value: [400, "undefined", "Sha256Mismatch", `Sha256 mismatch. Expected: ${OTHER} Actual: ${ABC}`] },
  ),
  posted("digest-hex", "Digests of uploads are written in base 64.", { digest: `sha-256=${HEX}` }, BAD_DIGEST),
  posted("digest-other", "No other digest is read.", { digest: "md5=kAFQmDzST7DWlj99KOF/cg==" }, BAD_DIGEST),
  posted("bad-type", "An upload's type has to be one.", { "content-type": "plain" }, [
    400,
    "undefined",
    "BadHeader",
    "Bad header for content-type: invalid HTTP header",
  ]),
  posted("parameters", "It may have parameters.", { "content-type": 'text/x; a=b; c="d e"' }, [
    200,
    "string",
    null,
    null,
  ]),
  row(
    "headers",
    "A download has its digest, its length, and may be cached for a month.",
    OVER_HTTP,
    "get",
    { headers: {}, names: ["digest", "content-type", "content-length", "cache-control", "accept-ranges"] },
    { value: [200, "abc", `sha-256=${ABC}`, "text/plain", "3", "private, max-age=2592000", "bytes"] },
  ),
  row(
    "range-digest",
    "A part of one has no digest.",
    OVER_HTTP,
    "get",
    { headers: { range: "bytes=0-1" }, names: ["digest", "content-length", "content-range"] },
    { value: [206, "ab", null, "2", "bytes 0-1/3"] },
  ),
  row(
    "ranges",
    "Only one part is served at once.",
    OVER_HTTP,
    "get",
    { headers: { range: "bytes=0-0,2-2" }, names: ["content-range"] },
    { value: [416, "", null] },
  ),
  row(
    "other-unit",
    "A range in another unit is ignored.",
    OVER_HTTP,
    "get",
    { headers: { range: "lines=0-1" }, names: ["content-range"] },
    { value: [200, "abc", null] },
  ),
  row(
    "bad-path",
    "A download's path ends with a UUID.",
    OVER_HTTP,
    "at",
    { path: "/api/storage/mine" },
    {
      value: [
        400,
        "InvalidStoragePath",
        'Invalid storage path: "mine". Please use `storage.getUrl()` to generate a valid URL to retrieve files. See https://docs.convex.dev/file-storage/serve-files for more details',
      ],
    },
  ),
  row("store-digest", "What is stored may be checked, too.", STORE, "store", { sha256: ABC }, { value: "string" }),
  row(
    "store-digest-hex",
    "Its digest is in base 64.",
    STORE,
    "store",
    { sha256: HEX },
    { rejects: "invalid HTTP header" },
  ),
  row(
    "store-digest-mismatch",
    "Another digest is an error.",
    ENTRIES,
    "store",
    { sha256: OTHER },
    {
      rejects: `Sha256 mismatch. Expected: ${OTHER} Actual: ${ABC}`,
    },
  ),
  row(
    "store-digest-mutation",
    "The same holds in mutations.",
    ENTRIES,
    "keep",
    { sha256: OTHER },
    {
      rejects: "Sha256 mismatch",
    },
  ),
  row(
    "store-type",
    "What is stored has a type that can be read, or none.",
    STORE,
    "store",
    { type: "plain" },
    {
      rejects: "mime parse error: a slash (/) was missing between the type and subtype",
    },
  ),
];
