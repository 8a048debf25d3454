/** `URL` and `URLSearchParams`. */

import { moduleFile, type Expected, type Row, type Step } from "../harness.ts";

const URLS = "get-convex/convex-backend npm-packages/udf-runtime/src/00_url.ts";

function row(id: string, rule: string, body: string, expected: Expected): Row {
  return {
    id: `web_url/${id}`,
    rule,
    citation: URLS,
    files: moduleFile("m", `export const run = query({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`),
    steps: [{ call: "query", path: "m:run" }],
    expected,
  };
}

const RUN: Step = { call: "query", path: "m:run" };

export const rows: readonly Row[] = [
  row(
    "parts",
    "A URL has parts.",
    `const url = new URL("https://a:b@example.com:8080/p?q=1#h");
return [url.href, url.origin, url.protocol, url.username, url.password, url.host, url.hostname, url.port, url.pathname, url.search, url.hash];`,
    {
      value: [
        "https://a:b@example.com:8080/p?q=1#h",
        "https://example.com:8080",
        "https:",
        "a",
        "b",
        "example.com:8080",
        "example.com",
        "8080",
        "/p",
        "?q=1",
        "#h",
      ],
    },
  ),
  row(
    "set",
    "Its parts can be set, and are left as they are where a value is none.",
    `const url = new URL("https://example.com/");
Object.assign(url, { username: "u", hostname: "example.org", port: "99x", pathname: "a b", search: "c=d e", hash: "f", protocol: "1" });
return url.href;`,
    { value: "https://u@example.org:99/a%20b?c=d%20e#f" },
  ),
  row("set-host", "Convex's has no way to set the host.", `new URL("https://a.b/").host = "c.d";`, {
    rejects: "Not implemented: set host for URL. Consider calling an action defined in Node.js instead",
  }),
  row("base", "A URL may be relative to another.", `return new URL("../c?d", new URL("https://x.y/a/b/")).href;`, {
    value: "https://x.y/a/c?d",
  }),
  row(
    "other-schemes",
    "Other schemes are parsed, too.",
    `return [new URL("data:,x").pathname, new URL("mailto:a@b").origin];`,
    {
      value: [",x", "null"],
    },
  ),
  row("invalid", "What is no URL is a TypeError.", `new URL("nowhere");`, {
    rejects: "TypeError: Invalid URL: 'nowhere'",
  }),
  row(
    "invalid-base",
    "The base is named where it is at fault.",
    `try { new URL("/a", "b"); return null; } catch (error: any) { return [error instanceof TypeError, error.constructor === TypeError, error.message]; }`,
    { value: [true, true, "Invalid URL: 'b'"] },
  ),
  row(
    "own-error",
    "The error is the context's own: its constructor makes no functions.",
    `try { new URL(""); return null; } catch (error: any) { const { constructor } = error.constructor; try { constructor("return 1")(); return "made"; } catch (inner: any) { return [constructor === Function, inner.name]; } }`,
    { value: [true, "EvalError"] },
  ),
  row("symbol", "A symbol is no text.", `new URL(Symbol("a") as any);`, {
    rejects: "TypeError: Cannot convert a Symbol",
  }),
  row(
    "can-parse",
    "A text can be tried.",
    `return [URL.canParse("https://a"), URL.canParse("a"), URL.canParse("a", "https://b"), URL.parse("a"), URL.parse("https://a")!.href];`,
    { value: [true, false, true, null, "https://a/"] },
  ),
  row(
    "json",
    "A URL is its text.",
    `const url = new URL("https://a"); return [JSON.stringify({ url }), \`\${url}\`, Object.prototype.toString.call(url), "createObjectURL" in URL];`,
    { value: ['{"url":"https://a/"}', "https://a/", "[object URL]", false] },
  ),
  row(
    "search-params",
    "A URL's parameters change with it, and it with them.",
    `const url = new URL("https://a/?b=1&c=2"); const params = url.searchParams;
params.append("d", "é &"); params.delete("b"); const first = url.search;
url.search = "?x=%20+"; const second = [...params];
url.href = "https://b/?y=z"; return [first, second, params === url.searchParams, params.toString()];`,
    { value: ["?c=2&d=%C3%A9+%26", [["x", "  "]], true, "y=z"] },
  ),
  row(
    "params-from",
    "Parameters are made of a text, of pairs, of an object and of others.",
    `return [new URLSearchParams("?a=1&a=2"), new URLSearchParams([["a", "1"]]), new URLSearchParams({ a: "1", b: 2 } as any), new URLSearchParams(new URLSearchParams("c")), new URLSearchParams(new Map([["k", "v"]]) as any), new URLSearchParams()].map(String);`,
    { value: ["a=1&a=2", "a=1", "a=1&b=2", "c=", "k=v", ""] },
  ),
  row("params-pairs", "A pair has two items.", `new URLSearchParams([["a"]] as any);`, {
    rejects: "TypeError: Failed to construct 'URLSearchParams'",
  }),
  row(
    "params",
    "Parameters are read and changed by their names.",
    `const params = new URLSearchParams("b=2&a=1&b=3");
const read = [params.get("b"), params.get("x"), params.getAll("b"), params.has("b", "3"), params.has("b", "4"), params.size];
params.set("b", "4"); params.sort(); const seen: any[] = []; params.forEach((value, name) => seen.push([name, value]));
return [read, seen, [...params.keys()], [...params.values()], Object.fromEntries(params)];`,
    {
      value: [
        ["2", null, ["2", "3"], true, false, 3],
        [
          ["a", "1"],
          ["b", "4"],
        ],
        ["a", "b"],
        ["1", "4"],
        { a: "1", b: "4" },
      ],
    },
  ),
  row(
    "params-live",
    "Iterating over parameters sees later changes.",
    `const params = new URLSearchParams("a=1&b=2&c=3"); const seen = []; for (const [name] of params) { seen.push(name); params.delete(name); } return [seen, params.toString(), Object.prototype.toString.call(params.keys())];`,
    { value: [["a", "c"], "b=2", "[object URLSearchParams Iterator]"] },
  ),
  {
    id: "web_url/fresh",
    rule: "What a call changes of the classes, it changes for itself.",
    citation: "get-convex/convex-backend crates/isolate/src/context_cache.rs",
    files: moduleFile(
      "m",
      `export const run = query({ args: {}, handler: async () => { const before = [(URL as any).kept, (URL.prototype as any).kept, (URLSearchParams.prototype as any).kept, new URL("https://a").href].map((value) => value ?? null);
Object.assign(URL, { kept: 1 }); Object.assign(URL.prototype, { kept: 1 }); Object.assign(URLSearchParams.prototype, { kept: 1 }); Object.defineProperty(URL.prototype, "href", { value: "kept" }); return before; } });`,
    ),
    steps: [RUN, RUN],
    expected: { value: [null, null, null, "https://a/"] },
  },
  {
    id: "web_url/patched",
    rule: "The app may change the language under them.",
    citation: "get-convex/convex-backend crates/isolate/src/context_cache.rs",
    files: moduleFile(
      "m",
      `const leaks: string[] = []; const real = Function.prototype.call;
for (const name of ["call", "apply", "bind"] as const) { const own = Function.prototype[name] as any; (Function.prototype as any)[name] = function (...args: any[]) { if (!(this instanceof Function)) leaks.push(name); return Reflect.apply(own, this, args); }; }
export const run = query({ args: {}, handler: async () => { const url = new URL("https://a/?b=c"); url.searchParams.append("d", "e"); return [leaks, url.href, typeof real]; } });`,
    ),
    steps: [RUN],
    expected: { value: [[], "https://a/?b=c&d=e", "function"] },
  },
];
