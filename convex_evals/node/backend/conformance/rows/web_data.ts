/** Data of the web in the default runtime: blobs, streams, clones; and what of them one call leaves to the next. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const BLOB = "get-convex/convex-backend npm-packages/udf-runtime/src/09_file.ts";
const STREAMS = "get-convex/convex-backend npm-packages/udf-runtime/src/06_streams.ts";
const CLONE = "get-convex/convex-backend crates/isolate/src/ops/structured_clone.rs";
const STORAGE = "get-convex/convex-backend npm-packages/udf-runtime/src/storage.ts";
const CONTEXTS = "get-convex/convex-backend crates/isolate/src/context_cache.rs";

type Kind = "query" | "action";

function row(id: string, rule: string, citation: string, body: string, expected: Expected, kind: Kind = "query"): Row {
  const files = moduleFile(
    "m",
    `const failure = (make: () => unknown): unknown => { try { return make(); } catch (error: any) { return [error.name, error.message, error instanceof TypeError]; } };
export const run = ${kind}({ args: {}, handler: async (ctx: any): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `web_data/${id}`, rule, citation, files, steps: [{ call: kind, path: "m:run" }], expected };
}

const blobs: readonly Row[] = [
  row(
    "blob-parts",
    "A blob is made of texts, buffers, views and blobs.",
    BLOB,
    'const bytes = new TextEncoder().encode("xyz"); const blob = new Blob(["é", bytes.buffer, bytes.subarray(1), new DataView(bytes.buffer, 2), new Blob(["b"])], { type: "Text/Plain" }); bytes.fill(0); return [await blob.text(), blob.size, blob.type];',
    { value: ["éxyzyzzb", 9, "text/plain"] },
  ),
  row(
    "blob-buffer",
    "Its bytes are read as a copy, of the function's own classes.",
    BLOB,
    'const blob = new Blob(["abc"]); const buffer = await blob.arrayBuffer(); new Uint8Array(buffer)[0] = 0; return [buffer instanceof ArrayBuffer, buffer.byteLength, await blob.text(), blob.text() instanceof Promise];',
    { value: [true, 3, "abc", true] },
  ),
  row(
    "blob-slice",
    "Parts of it are blobs, too; a type that is not printable is none.",
    BLOB,
    'const blob = new Blob(["abcdef"], { type: "a/b" }); const part = blob.slice(-3, -1, "C/D"); return [await part.text(), part.type, part instanceof Blob, await blob.slice(4).text(), blob.slice().type, await blob.slice(5, 2).text(), new Blob([], { type: "é" }).type];',
    { value: ["de", "c/d", true, "ef", "", "", ""] },
  ),
  row(
    "blob-stream",
    "Its bytes are streamed.",
    BLOB,
    'const all: number[] = []; for await (const chunk of new Blob(["ab", "c"]).stream() as any) all.push(...chunk); const { value } = await new Blob(["xyz"]).stream().getReader({ mode: "byob" }).read(new Uint8Array(2)); const empty = await new Blob([]).stream().getReader({ mode: "byob" }).read(new Uint8Array(2)); return [all, [...value!], empty.done];',
    { value: [[97, 98, 99], [120, 121], true] },
  ),
  row(
    "blob-refused",
    "A blob is made of nothing else.",
    BLOB,
    'return [{}, 1].map((part: any) => (failure(() => new Blob([part])) as string[])[1]!.split(".")[0]);',
    {
      value: [1, 2].map(
        () =>
          "Not implemented: constructor with unsupported Blob part for Blob: Only ArrayBuffer, Blob and string supported",
      ),
    },
  ),
  row(
    "file",
    "A file is a blob with a name, modified at the function's own time.",
    BLOB,
    'const file = new File(["abc"], "a.txt", { type: "text/plain" }); return [file.name, file.size, file.type, await file.text(), file instanceof Blob, file.lastModified === Date.now(), new File([], "b", { lastModified: 7 }).lastModified, String(file)];',
    { value: ["a.txt", 3, "text/plain", "abc", true, true, 7, "[object File]"] },
  ),
  row(
    "blob-stored",
    "What is stored is read back as a blob, however the blob's class is changed.",
    STORAGE,
    'const id = await ctx.storage.store(new File([new Uint8Array([0, 255, 10])], "f", { type: "x/y" })); Object.defineProperty(Blob.prototype, "size", { value: 1 }); const blob = await ctx.storage.get(id); return [blob instanceof Blob, blob.type, [...new Uint8Array(await blob.arrayBuffer())], await ctx.storage.get(id.replace(/.$/, (c: string) => c)) !== null];',
    { value: [true, "x/y", [0, 255, 10], true] },
    "action",
  ),
  ...[
    "{ size: 1, type: 'a/b', arrayBuffer: async () => new ArrayBuffer(1) }",
    "'text'",
    "Object.create(Blob.prototype)",
  ].map((given, at) =>
    row(
      `store-no-blob-${at + 1}`,
      "Only blobs are stored.",
      STORAGE,
      `await ctx.storage.store(${given});`,
      { rejects: "store() expects a Blob. If you are trying to store a Request, `await request.blob()` will give" },
      "action",
    ),
  ),
];

const streams: readonly Row[] = [
  row(
    "stream",
    "Streams are read, copied, and passed on.",
    STREAMS,
    "const from = () => new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } }); const double = new TransformStream({ transform: (n, c) => c.enqueue(n * 2) }); const all = async (stream: any) => { const seen = []; for await (const n of stream) seen.push(n); return seen; }; const written: number[] = []; await from().pipeTo(new WritableStream({ write: (n) => void written.push(n) })); const [left, right] = from().tee(); return [await all(from().pipeThrough(double)), written, await all(left), await all(right), (await from().getReader().read())];",
    { value: [[2, 4], [1, 2], [1, 2], [1, 2], { done: false, value: 1 }] },
  ),
  row(
    "stream-classes",
    "Readers and writers are of the global classes, promises and errors of the function's own.",
    STREAMS,
    'const stream = new ReadableStream({ type: "bytes" }); const reader = stream.getReader({ mode: "byob" }); const writer = new WritableStream().getWriter(); return [reader instanceof ReadableStreamBYOBReader, new ReadableStream().getReader() instanceof ReadableStreamDefaultReader, writer instanceof WritableStreamDefaultWriter, writer.closed instanceof Promise, stream.locked, (failure(() => stream.getReader()) as unknown[])[0], failure(() => stream.getReader() as any) instanceof Array, String(stream)];',
    { value: [true, true, true, true, true, "TypeError", true, "[object ReadableStream]"] },
  ),
];

const clones: readonly Row[] = [
  row(
    "clone",
    "What V8 can copy is copied: no part is shared, and what was one object is one.",
    CLONE,
    'const shared = { n: 1 }; const bytes = new Uint8Array([1, 2, 3]); const given: any = { list: [shared, shared, undefined], map: new Map([[1, { a: 1n }]]), set: new Set(["x"]), date: new Date(5), pattern: /a/gi, view: bytes.subarray(1), same: bytes, boxed: Object("s"), big: 2n }; given.self = given; const copy = structuredClone(given); copy.view[0] = 9; return [copy.self === copy, copy.list[0] === copy.list[1], copy.list[0] !== shared, 2 in copy.list, copy.map.get(1).a === 1n, [...copy.set], copy.date.getTime(), String(copy.pattern), [...copy.view], [...copy.same], bytes[1], copy.boxed instanceof String, copy.big === 2n, copy.map instanceof Map, copy.view instanceof Uint8Array];',
    { value: [true, true, true, true, true, ["x"], 5, "/a/gi", [9, 3], [1, 9, 3], 2, true, true, true, true] },
  ),
  row(
    "clone-objects",
    "Of an object, its own enumerable properties are; of a class, nothing is left.",
    CLONE,
    'class Point { x = 1; #y = 2; get sum() { return this.x + this.#y; } } const copy: any = structuredClone(new Point()); const odd: any = structuredClone(JSON.parse(\'{"__proto__": 1}\')); const sparse = structuredClone([1, , 3]); return [Object.keys(copy), copy instanceof Point, copy.sum ?? null, Object.hasOwn(odd, "__proto__"), 1 in sparse, sparse.length];',
    { value: [["x"], false, null, true, false, 3] },
  ),
  row(
    "clone-errors",
    "Errors keep class, message, stack and cause, and lose the rest.",
    CLONE,
    'class Own extends RangeError { code = 1; } const own = structuredClone(new Own("m", { cause: { a: 1 } })) as any; return [own instanceof RangeError, own instanceof Own, own.name, own.message, own.cause, own.code ?? null, typeof own.stack];',
    { value: [true, false, "RangeError", "m", { a: 1 }, null, "string"] },
  ),
  row(
    "clone-refused",
    "Functions, symbols, promises and weak collections are refused.",
    CLONE,
    'return [() => 1, Symbol("s"), { deep: [Promise.resolve()] }, new WeakMap(), new Map([[1, new WeakSet()]])].map((given) => failure(() => structuredClone(given)));',
    {
      value: ["() => 1", "Symbol(s)", "#<Promise>", "#<WeakMap>", "#<WeakSet>"].map((what) => [
        "TypeError",
        `${what} could not be cloned.`,
        true,
      ]),
    },
  ),
  row(
    "clone-transfer",
    "Nothing is transferred.",
    "get-convex/convex-backend npm-packages/udf-runtime/src/02_structured_clone.ts",
    "return structuredClone(1, { transfer: [] });",
    { rejects: "structuredClone with transfer not supported" },
  ),
  ...(["query", "action"] as const).map((kind) =>
    row(
      `microtask-${kind}`,
      "`queueMicrotask` is an API of browsers and of Node.js that V8 has not, nor has Convex's default runtime.",
      "https://github.com/get-convex/convex-backend/pull/528",
      "queueMicrotask(() => {});",
      { rejects: "Uncaught ReferenceError: queueMicrotask is not defined" },
      kind,
    ),
  ),
  {
    id: "web_data/microtask-node",
    rule: "Actions for Node.js have it.",
    citation: "https://docs.convex.dev/functions/runtimes#nodejs-runtime",
    files: {
      "convex/n.ts":
        '"use node";\nimport { action } from "./_generated/server";\nexport const run = action({ args: {}, handler: async () => await new Promise<string>((resolve) => queueMicrotask(() => resolve("ran"))) });',
    },
    steps: [{ call: "action", path: "n:run" }],
    expected: { value: "ran" },
  },
];

const CLASSES =
  "[Blob, File, TextEncoder, TextDecoder, TextEncoderStream, TextDecoderStream, ReadableStream, ReadableStreamBYOBReader, ReadableStreamDefaultReader, TransformStream, WritableStream, WritableStreamDefaultWriter, Uint8Array, ArrayBuffer, DataView, Float32Array, BigInt64Array]";

const state: readonly Row[] = [
  {
    id: "web_data/state",
    rule: "What a call leaves on these classes and functions, and on what they return, no other call sees.",
    citation: CONTEXTS,
    files: moduleFile(
      "m",
      `const objects = (): any[] => { let thrown: any; try { atob("*"); } catch (error) { thrown = error; } let refused: any; try { structuredClone(() => 1); } catch (error) { refused = error; }
  const made = [new Blob(["a"]).stream(), new Blob([]).arrayBuffer(), new TextEncoder().encode("a"), new TextEncoder().encode("a").buffer, new ReadableStream().getReader().closed, refused, structuredClone(new Uint8Array(1))];
  return [...${CLASSES}.flatMap((of: any) => [of, of.prototype, Object.getPrototypeOf(of)]), atob, btoa, structuredClone, ...made.flatMap((one: any) => [Object.getPrototypeOf(one), one.constructor, Object.getPrototypeOf(Object.getPrototypeOf(one) ?? {})])].filter((one) => one !== null && one !== undefined); };
export const leave = mutation({ args: {}, handler: async () => { let left = 0; for (const object of objects()) { try { object.left = 1; left++; } catch {} } return left > 50; } });
export const look = query({ args: {}, handler: async () => objects().flatMap((object, at) => "left" in object ? [at] : []) });`,
    ),
    steps: [
      { call: "mutation", path: "m:leave" },
      { call: "query", path: "m:look" },
    ],
    expected: { value: [] },
  },
  row(
    "own-objects",
    "All that can be reached through these classes, and through what they return, is the function's own.",
    CONTEXTS,
    `const thrown = (make: () => unknown): any => { try { make(); } catch (error) { return error; } };
const body = new ReadableStream({ type: "bytes" }); const [left, right] = new ReadableStream().tee(); const half = new TextDecoder(); half.decode(new Uint8Array([226]), { stream: true });
const roots: any[] = [...${CLASSES}, atob, btoa, structuredClone, new File(["a"], "b"), new Blob(["a"]).stream(), new Blob(["a"]).text(), await new Blob(["a"]).arrayBuffer(), new TextEncoder().encode("a"), half, new TextDecoderStream().readable, body, body.getReader({ mode: "byob" }), left, right.getReader().closed,
  thrown(() => structuredClone(() => 1)), thrown(() => new Blob([1 as any])), thrown(() => body.getReader()), thrown(() => half.decode("" as any)), thrown(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))), structuredClone([new Map([[1, new Set([new Date(), /a/, new Error("e"), new Float32Array(1)])]])])];
const seen = new Set<any>(), foreign: string[] = [];
const look = (object: any, path: string): void => {
  if (((typeof object !== "object" || object === null) && typeof object !== "function") || seen.has(object) || object === globalThis) return;
  seen.add(object); let last = object;
  for (let next = last; next !== null; next = Object.getPrototypeOf(next)) last = next;
  if (last !== Object.prototype && last !== object) foreign.push(path);
  look(Object.getPrototypeOf(object), path + ".__proto__");
  for (const key of Reflect.ownKeys(object)) { const { value, get, set } = Object.getOwnPropertyDescriptor(object, key)!; for (const one of [value, get, set]) look(one, path + "." + String(key)); }
};
roots.forEach((root, at) => look(root, String(at)));
return [foreign, seen.size > 300];`,
    { value: [[], true] },
  ),
  row(
    "stack",
    "Where the stack is used up inside the host, the error is the function's own.",
    CONTEXTS,
    `const uses: (() => unknown)[] = [() => new TextEncoder().encode("abc"), () => new TextDecoder("latin1").decode(new Uint8Array(3)), () => atob("YQ=="), () => btoa("a"), () => new Blob(["a"]), () => (globalThis as any).Convex.syscall("1.0/get", "{}")];
const found = new Set<string>();
const note = (error: any): void => { let last = error; for (let next = last; next !== null; next = Object.getPrototypeOf(next)) last = next; found.add(last === Object.prototype ? error.message : "foreign: " + error.message); };
const deep = (use: () => unknown): void => { try { deep(use); } catch (end) { try { use(); } catch (error) { try { note(error); } catch {} } throw end; } };
const padded = (use: () => unknown, ...padding: unknown[]): void => { if (padding.length > 5) return; try { deep(use); } catch {} padded(use, ...padding, 1); };
for (const use of uses) padded(use);
return [...found].sort();`,
    { value: ["Maximum call stack size exceeded", "Unknown async operation 1.0/get"] },
    "action",
  ),
];

export const rows: readonly Row[] = [...blobs, ...streams, ...clones, ...state];
