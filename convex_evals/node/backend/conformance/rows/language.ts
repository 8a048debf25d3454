/** What Convex's V8 has of the language and older ones lack: base64, maps, sums, iterators; and modules of WebAssembly. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const BASE64 = "https://tc39.es/ecma262/#sec-uint8array.frombase64";
const MAPS = "https://tc39.es/ecma262/#sec-map.prototype.getorinsert";
const SUMS = "https://tc39.es/ecma262/#sec-math.sumprecise";
const ITERATORS = "https://tc39.es/ecma262/#sec-iterator.concat";
const FUNCTIONS = "https://tc39.es/ecma262/#sec-ecmascript-standard-built-in-objects";
const WASM = "npm convex/src/bundler/wasm.ts";

/** `U`, `M`, `W`, `I` and `S` are the globals, without their types; `tried` says what something returns or throws. */
const HELPERS = `
const { Uint8Array: U, Map: M, WeakMap: W, Iterator: I, Math: S } = globalThis as any;
const tried = (run: () => any): any => { try { const value = run(); return value instanceof Uint8Array ? [...value] : value; } catch (error: any) { return error.name; } };
`;

type Kind = "query" | "mutation" | "action";

function row(id: string, rule: string, citation: string, body: string, value: unknown, kind: Kind = "query"): Row {
  const files = moduleFile(
    "m",
    `${HELPERS}export const run = ${kind}({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `language/${id}`, rule, citation, files, steps: [{ call: kind, path: "m:run" }], expected: { value } };
}

const LISTED = `
const listed: [any, string, number][] = [[U, "fromBase64", 1], [U, "fromHex", 1], [U.prototype, "toBase64", 0], [U.prototype, "toHex", 0], [U.prototype, "setFromBase64", 1], [U.prototype, "setFromHex", 1], [M.prototype, "getOrInsert", 2], [M.prototype, "getOrInsertComputed", 2], [W.prototype, "getOrInsert", 2], [W.prototype, "getOrInsertComputed", 2], [S, "sumPrecise", 1], [I, "concat", 0]];
`;

const functions: readonly Row[] = (["query", "mutation", "action"] as const).map((kind) =>
  row(
    `functions-${kind}`,
    `They are functions of the language: named, of its lengths, not listed, no constructors (${kind}).`,
    FUNCTIONS,
    `${LISTED}return listed.filter(([on, name, length]) => { const own = Object.getOwnPropertyDescriptor(on, name); return own === undefined || own.enumerable || !own.writable || !own.configurable || own.value.name !== name || own.value.length !== length || Object.hasOwn(own.value, "prototype") || tried(() => Reflect.construct(Object, [], own.value)) !== "TypeError"; }).map(([, name]) => name);`,
    [],
    kind,
  ),
);

const all: readonly Row[] = [
  {
    id: "language/at-load",
    rule: "Modules find them while they are loaded, when they are pushed too.",
    citation: FUNCTIONS,
    files: moduleFile(
      "m",
      `${HELPERS}const loaded = [[...U.fromBase64("AQID")], S.sumPrecise([1, 2]), new M().getOrInsert(1, 2)];\nexport const run = query({ args: {}, handler: async () => loaded });`,
    ),
    steps: [{ call: "query", path: "m:run" }],
    expected: { value: [[1, 2, 3], 3, 2] },
  },
  row(
    "present",
    "What came with earlier versions is there as well.",
    FUNCTIONS,
    'return [(Error as any).isError(new Error()), await (Promise as any).try(() => 1), (RegExp as any).escape("a.b"), (S as any).f16round(1.1), new (globalThis as any).Float16Array([1.1])[0], [...new Set([1, 2]).union(new Set([3]))], [...I.from([1, 2]).map((n: number) => n * 2)], await Array.fromAsync([1]), typeof DisposableStack, typeof SuppressedError, (JSON as any).rawJSON("1").rawJSON, /(?i:A)b/.test("ab")];',
    [true, 1, "\\x61\\.b", 1.099609375, 1.099609375, [1, 2, 3], [2, 4], [1], "function", "function", "1", true],
  ),
];

const base64: readonly Row[] = [
  row(
    "base64-round",
    "Bytes become base64 and are read again, at every length.",
    BASE64,
    'for (let length = 0; length < 70; length++) { const bytes = crypto.getRandomValues(new Uint8Array(length)) as any; for (const alphabet of ["base64", "base64url"]) for (const omitPadding of [false, true]) { const text = bytes.toBase64({ alphabet, omitPadding }); const back = U.fromBase64(text, { alphabet }); const expected = btoa(String.fromCharCode(...bytes)); const plain = alphabet === "base64" ? expected : expected.replaceAll("+", "-").replaceAll("/", "_"); if (text !== (omitPadding ? plain.replaceAll("=", "") : plain) || back.toHex() !== bytes.toHex() || U.fromHex(bytes.toHex()).toHex() !== bytes.toHex()) return [length, text]; } } return "same";',
    "same",
  ),
  row(
    "base64-chunks",
    "The last chunk is read as was asked.",
    BASE64,
    'return ["", "AA", "AA=", "AA==", "AB", "AB==", "AAA", "AAB=", "A", "A=", "=", "AAAAA"].map((text) => ["loose", "strict", "stop-before-partial"].map((lastChunkHandling) => tried(() => U.fromBase64(text, { lastChunkHandling }))));',
    [
      [[], [], []],
      [[0], "SyntaxError", []],
      ["SyntaxError", "SyntaxError", []],
      [[0], [0], [0]],
      [[0], "SyntaxError", []],
      [[0], "SyntaxError", [0]],
      [[0, 0], "SyntaxError", []],
      [[0, 0], "SyntaxError", [0, 0]],
      ["SyntaxError", "SyntaxError", []],
      ["SyntaxError", "SyntaxError", "SyntaxError"],
      ["SyntaxError", "SyntaxError", "SyntaxError"],
      ["SyntaxError", "SyntaxError", [0, 0, 0]],
    ],
  ),
  row(
    "base64-texts",
    "White space is left out, and what is no digit is refused.",
    BASE64,
    'return [" A A\\tA\\nA ", "AA = =", "AA==\\r\\f", "AA==A", "AA===", "AAAA=", "A-_A", "A\\u00a0AAA", "AAA\\u0141", "AAA!"].map((text) => tried(() => U.fromBase64(text)));',
    [[0, 0, 0], [0], [0], ...Array.from({ length: 7 }, () => "SyntaxError")],
  ),
  row(
    "base64-alphabets",
    "Each alphabet refuses the digits of the other.",
    BASE64,
    'return [tried(() => U.fromBase64("-_-_", { alphabet: "base64url" })), tried(() => U.fromBase64("+/+/")), tried(() => U.fromBase64("+/+/", { alphabet: "base64url" })), tried(() => U.fromBase64("-_-_"))];',
    [[251, 255, 191], [251, 255, 191], "SyntaxError", "SyntaxError"],
  ),
  row(
    "base64-types",
    "Only texts, bytes and known options are taken, and they are not converted.",
    BASE64,
    'const bytes = new U([1, 2]); const gone = new U(2); structuredClone(gone.buffer).byteLength; gone.buffer.transfer(); return [() => U.fromBase64(1), () => U.fromBase64(Object("AAAA")), () => U.fromBase64("", null), () => U.fromBase64("", "base64"), () => U.fromBase64("", { alphabet: "x" }), () => U.fromBase64("", { alphabet: { toString: () => "base64" } }), () => U.fromBase64("", { lastChunkHandling: null }), () => U.fromHex(12), () => U.prototype.toBase64.call([1]), () => U.prototype.toHex.call(new Uint8ClampedArray(1)), () => U.prototype.setFromHex.call(new Uint16Array(1), ""), () => gone.toHex(), () => gone.toBase64(), () => gone.setFromBase64(""), () => bytes.toBase64({ alphabet: "" })].map(tried).filter((name) => name !== "TypeError");',
    [],
  ),
  row(
    "base64-class",
    "What is read are plain bytes with a buffer of their own.",
    BASE64,
    'class Mine extends U {} const bytes = (Mine as any).fromBase64("AAAA AA=="); return [bytes.constructor === Uint8Array, bytes.buffer.byteLength, (Mine as any).fromHex("ff").constructor === Uint8Array, new (Mine as any)([255]).toHex(), new U(new Uint8Array([1, 2, 3]).buffer, 1).toBase64()];',
    [true, 4, true, "ff", "AgM="],
  ),
  row(
    "hex",
    "Hexadecimal text has two digits for each byte, of either case.",
    "https://tc39.es/ecma262/#sec-uint8array.fromhex",
    'return ["", "00ff", "aBcDeF", "a", "0g", "0x", " 00", "00 ", "\\u0661\\u0661", "@0", "G0"].map((text) => tried(() => U.fromHex(text))).concat([new U([0, 1, 255]).toHex()]);',
    [[], [0, 255], [171, 205, 239], ...Array.from({ length: 8 }, () => "SyntaxError"), "0001ff"],
  ),
  row(
    "base64-set",
    "Bytes are set as far as there is room for whole chunks, also before what is wrong.",
    "https://tc39.es/ecma262/#sec-uint8array.prototype.setfrombase64",
    'return [["AAECAwQ=", 8], ["AAECAwQ=", 4], ["AAECAwQ=", 3], ["AAEC AwQF", 5], ["AAECAw", 4], ["AAECAw", 3], ["AAEC!", 8], ["", 2], ["!", 0], ["AAE=", 1], ["AA==", 1]].map(([text, size]: any) => { const bytes = new U(size).fill(9); const result = tried(() => bytes.setFromBase64(text)); return [typeof result === "string" ? result : [result.read, result.written], ...bytes]; });',
    [
      [[8, 5], 0, 1, 2, 3, 4, 9, 9, 9],
      [[4, 3], 0, 1, 2, 9],
      [[4, 3], 0, 1, 2],
      [[4, 3], 0, 1, 2, 9, 9],
      [[6, 4], 0, 1, 2, 3],
      [[4, 3], 0, 1, 2],
      ["SyntaxError", 0, 1, 2, 9, 9, 9, 9, 9],
      [[0, 0], 9, 9],
      [[0, 0]],
      [[0, 0], 9],
      [[4, 1], 0],
    ],
  ),
  row(
    "hex-set",
    "So they are from hexadecimal text.",
    "https://tc39.es/ecma262/#sec-uint8array.prototype.setfromhex",
    'return [["0102", 3], ["010203", 2], ["01zz", 2], ["012", 2], ["zz", 0]].map(([text, size]: any) => { const bytes = new U(size).fill(9); const result = tried(() => bytes.setFromHex(text)); return [typeof result === "string" ? result : [result.read, result.written], ...bytes]; });',
    [[[4, 2], 1, 2, 9], [[4, 2], 1, 2], ["SyntaxError", 1, 9], ["SyntaxError", 9, 9], [[0, 0]]],
  ),
  row(
    "base64-long",
    "A megabyte is read and written.",
    BASE64,
    "const bytes = new U(1 << 20).fill(7); bytes[12345] = 8; const text = bytes.toBase64(); const back = U.fromBase64(text); return [text.length, back.length, back[12345], back[12346]];",
    [1398104, 1 << 20, 8, 7],
  ),
];

const collections: readonly Row[] = [
  row(
    "map-insert",
    "A map gives the value that it has, or takes the new one.",
    MAPS,
    'const map = new M([["a", undefined]]); return [map.getOrInsert("a", 1) === undefined, map.getOrInsert("b", 2), map.getOrInsert("b", 3), [...map.keys()], map.getOrInsert(NaN, 4), map.getOrInsert(NaN, 5), map.getOrInsert(-0, 6), Object.is([...map.keys()].at(-1), 0)];',
    [true, 2, 2, ["a", "b"], 4, 4, 6, true],
  ),
  row(
    "map-compute",
    "The value is computed only where it is missing, for the key as the map has it.",
    MAPS,
    'const map = new M(); const keys: any[] = []; const compute = function (this: any, key: any, ...rest: any[]) { keys.push(Object.is(key, 0), this === undefined, rest.length); return "x"; }; return [map.getOrInsertComputed(-0, compute), map.getOrInsertComputed(0, compute), keys, map.getOrInsertComputed("a", () => { map.set("a", 1); map.set("b", 2); return 3; }), [...map]];',
    [
      "x",
      "x",
      [true, true, 0],
      3,
      [
        [0, "x"],
        ["a", 3],
        ["b", 2],
      ],
    ],
  ),
  row(
    "map-failure",
    "What fails to compute leaves nothing.",
    MAPS,
    'const map = new M([[1, 1]]); return [tried(() => map.getOrInsertComputed("a", () => { throw new RangeError(); })), map.size, tried(() => map.getOrInsertComputed(1, null)), tried(() => M.prototype.getOrInsert.call(new W(), 1, 1)), tried(() => M.prototype.getOrInsertComputed.call(new Set(), 1, () => 1)), tried(() => M.prototype.getOrInsert.call({}, 1, 1))];',
    ["RangeError", 1, "TypeError", "TypeError", "TypeError", "TypeError"],
  ),
  row(
    "weak-map",
    "Weak maps have the same, for what can be held weakly.",
    "https://tc39.es/ecma262/#sec-weakmap.prototype.getorinsert",
    'const map = new W(); const [key, symbol, computed] = [{}, Symbol("s"), {}]; let calls = 0; return [map.getOrInsert(key, 1), map.getOrInsert(key, 2), map.getOrInsert(symbol, 3), map.getOrInsertComputed(computed, (given: any) => given === computed), map.getOrInsertComputed(computed, () => 0), tried(() => map.getOrInsert("a", 1)), tried(() => map.getOrInsertComputed(Symbol.for("s"), () => { calls++; })), calls, tried(() => map.getOrInsertComputed(key, 1)), tried(() => W.prototype.getOrInsert.call(new M(), key, 1))];',
    [1, 1, 3, true, true, "TypeError", "TypeError", 0, "TypeError", "TypeError"],
  ),
];

const numbers: readonly Row[] = [
  row(
    "sum-exact",
    "A sum is rounded once, however large or small its parts are.",
    SUMS,
    "return [[0.1, 0.2, 0.3], [1e20, 0.1, -1e20], [1e308, 1e308, 0.1, 0.1, 1e30, 0.1, -1e30, -1e308, -1e308], [5e-324, 5e-324], [2 ** 53, 1, 1], [2 ** 53, 1], [2 ** 53, 1, 5e-324], [Number.MAX_VALUE, Number.MAX_VALUE], [Number.MAX_VALUE, 2 ** 969], [Number.MAX_VALUE, 2 ** 970], [-1.5, 0.5], [1, 2, 3], Array(10).fill(0.1), [2.5e-310, 1e-310], [2 ** -1022, -(2 ** -1074)]].map((values) => S.sumPrecise(values));",
    [
      0.6,
      0.1,
      0.30000000000000004,
      1e-323,
      9007199254740994,
      9007199254740992,
      9007199254740994,
      Infinity,
      Number.MAX_VALUE,
      Infinity,
      -1,
      6,
      1,
      3.5e-310,
      2.225073858507201e-308,
    ],
  ),
  row(
    "sum-special",
    "Nothing and negative zeros give a negative zero; infinities and what is no number count as usual.",
    SUMS,
    "return [[[], [-0], [-0, -0], [-0, 0], [1, -1]].map((values) => Object.is(S.sumPrecise(values), -0)), S.sumPrecise([Infinity, 1]), S.sumPrecise([-Infinity, -Infinity]), Number.isNaN(S.sumPrecise([Infinity, -Infinity])), Number.isNaN(S.sumPrecise([NaN, Infinity])), S.sumPrecise(new Set([1, 2]))];",
    [[true, true, true, false, false], Infinity, -Infinity, true, true, 3],
  ),
  row(
    "sum-types",
    "Only numbers are added, and an iterator is closed at the first that is none.",
    SUMS,
    'let closed = 0; const values = { [Symbol.iterator]: () => ({ next: () => ({ value: "1", done: false }), return: () => { closed++; return {}; } }) }; return [tried(() => S.sumPrecise(values)), closed, tried(() => S.sumPrecise([1n])), tried(() => S.sumPrecise()), tried(() => S.sumPrecise(null)), tried(() => S.sumPrecise(1, 2)), tried(() => S.sumPrecise([Object(1)]))];',
    ["TypeError", 1, "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"],
  ),
];

const iterators: readonly Row[] = [
  row(
    "concat",
    "Iterables become one iterator, which is a helper like those of `map`.",
    ITERATORS,
    'const joined = I.concat([1, 2], new Set([3]), Object("ab"), [], [[4]]); return [[...joined], joined instanceof I, Object.getPrototypeOf(joined) === Object.getPrototypeOf(I.from([]).map(() => 1)), Object.prototype.toString.call(joined), [...I.concat()], I.concat([1]).next(), joined.next().done];',
    [[1, 2, 3, "a", "b", [4]], true, true, "[object Iterator Helper]", [], { value: 1, done: false }, true],
  ),
  row(
    "concat-opens",
    "Iterables are checked at once and opened one after the other.",
    ITERATORS,
    'const log: string[] = []; const of = (name: string, ...values: any[]) => ({ get [Symbol.iterator]() { log.push(`get ${name}`); return () => { log.push(`open ${name}`); return values[Symbol.iterator](); }; } }); const joined = I.concat(of("a", 1), of("b", 2)); log.push("made"); joined.next(); joined.next(); return [log, tried(() => I.concat(1)), tried(() => I.concat("ab")), tried(() => I.concat([], {})), tried(() => I.concat({ [Symbol.iterator]: 1 })), tried(() => [...I.concat({ [Symbol.iterator]: () => 1 })])];',
    [["get a", "get b", "made", "open a", "open b"], "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"],
  ),
  row(
    "concat-closes",
    "Closing it closes the iterator that is open.",
    ITERATORS,
    'const closed: string[] = []; const of = (name: string) => ({ [Symbol.iterator]: () => ({ next: () => ({ value: name, done: false }), return: () => { closed.push(name); return {}; } }) }); const joined = I.concat([0], of("a"), of("b")); joined.next(); joined.next(); const unopened = I.concat(of("c")); return [joined.return().done, [...closed], joined.next().done, unopened.return().done, unopened.next().done, closed.length, tried(() => { for (const value of I.concat(of("d"))) throw new RangeError(value as string); }), closed.at(-1)];',
    [true, ["a"], true, true, true, 1, "RangeError", "d"],
  ),
];

const robust: readonly Row[] = [
  row(
    "replaced",
    "They work whatever else a function replaces.",
    FUNCTIONS,
    'const base64 = U.fromBase64; String.prototype.charCodeAt = String.prototype.at = M.prototype.has = M.prototype.get = M.prototype.set = (() => 0) as any; const { call, apply } = Function.prototype; Function.prototype.call = Function.prototype.apply = null as any; I.prototype.flatMap = null; Reflect.apply = null as any; (globalThis as any).Uint8Array = null; const map = new M(); map.getOrInsert(1, 2); const found = [base64("AQID").toHex(), map.size, map.getOrInsertComputed(1, () => 3), I.concat(new Set([1])).next().value]; Object.assign(Function.prototype, { call, apply }); return found;',
    ["010203", 1, 2, 1],
  ),
];

/** A module that exports `f`, which returns 42. */
const MODULE = Buffer.from(
  "0061736d010000000105016000017f030201000705010166000 00a0601040041 2a0b".replaceAll(" ", ""),
  "hex",
).toString("latin1");

const wasm: readonly Row[] = (["query", "mutation", "action"] as const).map((kind): Row => {
  const expected: Expected = { value: [42, true] };
  return {
    id: `language/wasm-${kind}`,
    rule: `A file of WebAssembly is imported as a module that is compiled (${kind}).`,
    citation: WASM,
    files: {
      ...moduleFile(
        "m",
        `// @ts-ignore\nimport compiled from "./f.wasm";\nexport const run = ${kind}({ args: {}, handler: async () => [(new WebAssembly.Instance(compiled).exports.f as any)(), compiled instanceof WebAssembly.Module] });`,
      ),
      "convex/f.wasm": MODULE,
    },
    steps: [{ call: kind, path: "m:run" }],
    expected,
  };
});

export const rows: readonly Row[] = [
  ...all,
  ...functions,
  ...base64,
  ...collections,
  ...numbers,
  ...iterators,
  ...robust,
  ...wasm,
];
