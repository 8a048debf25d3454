/** What `crypto` refuses, its classes, and `performance`. */

import { moduleFile, type Row } from "../harness.ts";
import { cryptoRow } from "./web_crypto.ts";

const FOLDER = "get-convex/convex-backend npm-packages/udf-runtime/src";
const CRYPTO = `${FOLDER}/00_crypto.ts`;
const NORMALIZE = `${FOLDER}/crypto/normalize_algorithm.ts`;
const ANALYZE = "get-convex/convex-backend crates/isolate/src/environment/analyze.rs";
const NOT_ALLOWED = "Can't use cryptographic randomness in queries and mutations. Please consider using an action.";

const errors: readonly Row[] = [
  cryptoRow(
    "query",
    "wrong-use",
    "A key does what it was imported for.",
    CRYPTO,
    `const key = await subtle.importKey("raw", new Uint8Array(16), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
const tries = [() => subtle.sign("HMAC", key, utf8("")), () => subtle.exportKey("raw", key), () => subtle.encrypt({ name: "AES-GCM", iv: utf8("") }, key, utf8("")), () => subtle.importKey("raw", utf8("a"), { name: "HMAC", hash: "SHA-1" }, false, ["encrypt"]), () => subtle.importKey("raw", utf8("a"), "AES-GCM", false, ["encrypt"])];
const answers = []; for (const one of tries) answers.push(await told(one)); return answers.map(([name, message, isDom]) => [name, message !== "", isDom]);`,
    {
      value: [
        ["InvalidAccessError", true, true],
        ["InvalidAccessError", true, true],
        ["InvalidAccessError", true, true],
        ["SyntaxError", true, true],
        ["DataError", true, true],
      ],
    },
  ),
  cryptoRow(
    "query",
    "wrong-arguments",
    "Wrong arguments are told of.",
    NORMALIZE,
    `const tries = [() => subtle.digest("MD5", utf8("")), () => subtle.digest("SHA-256", "text" as any), () => (subtle as any).digest("SHA-256"), () => subtle.importKey("raw", {} as any, "HKDF", false, []), () => subtle.sign("HMAC", {} as any, utf8("")), () => subtle.sign("MD5", {} as any, utf8(""))];
const answers = []; for (const one of tries) answers.push(await told(one)); return answers.map(([name, message, , isType]) => [name, message, isType]);`,
    {
      value: [
        ["NotSupportedError", "Unrecognized or invalid algorithm md5", false],
        ["TypeError", "data is not of type BufferSource.", true],
        ["TypeError", "Failed to execute 'digest' on 'SubtleCrypto': 2 arguments required, but only 1 present.", true],
        ["TypeError", "wrong keyData for format raw", true],
        ["TypeError", "key is not of type CryptoKey.", true],
        ["InvalidAccessError", "invalid algorithm for key", false],
      ],
    },
  ),
  cryptoRow("action", "wrap", "Keys are not wrapped.", CRYPTO, "await (subtle as any).wrapKey();", {
    rejects: "Not implemented: wrapKey for SubtleCrypto. Consider calling an action defined in Node.js instead",
  }),
  cryptoRow(
    "query",
    "random-signature",
    "What needs true chance is refused in queries, however its name is written.",
    "get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs",
    `const rsa = { name: "rsa-oaep" } as any; const tries = [() => subtle.sign({ name: "ecdsa", hash: "SHA-256" }, {} as any, utf8("")), () => subtle.sign({ name: "RSA-PSS", saltLength: 1 }, {} as any, utf8("")), () => subtle.encrypt(rsa, {} as any, utf8("")), () => subtle.generateKey("Ed25519", false, ["sign"])];
const answers = []; for (const one of tries) answers.push(await told(one)); return answers.map(([, message]) => message.slice(0, ${NOT_ALLOWED.length}));`,
    { value: [NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED] },
  ),
  {
    id: "web-crypto/import-time",
    rule: "Keys are not generated while modules are loaded; random values are there.",
    citation: ANALYZE,
    files: moduleFile(
      "m",
      `const id = crypto.randomUUID(); let message = ""; const tried = crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]).catch((error) => { message = error.message; });
export const run = action({ args: {}, handler: async () => { await tried; return [id.length, message]; } });`,
    ),
    steps: [{ call: "action", path: "m:run" }],
    expected: { value: [36, "Cannot use cryptographic randomness at import time"] },
  },
  cryptoRow(
    "query",
    "random-values",
    "Only arrays of integers are filled, up to 64 KiB.",
    CRYPTO,
    `const tries: any[] = [new Float32Array(1), new DataView(new ArrayBuffer(1)), new Uint8Array(65537), {}]; const part = new Uint32Array(new ArrayBuffer(16), 4, 2); const same = crypto.getRandomValues(part) === part; const bytes = new Uint8Array(part.buffer);
return [await Promise.all(tries.map(async (one) => (await told(async () => crypto.getRandomValues(one)))[0])), same, hex(bytes.subarray(0, 4)) + hex(bytes.subarray(12)), part.some((n) => n !== 0)];`,
    {
      value: [
        ["TypeMismatchError", "TypeMismatchError", "QuotaExceededError", "TypeMismatchError"],
        true,
        "0000000000000000",
        true,
      ],
    },
  ),
];

const classes: readonly Row[] = [
  cryptoRow(
    "action",
    "classes",
    "The classes are there, and make no objects.",
    CRYPTO,
    `const key = await subtle.importKey("raw", utf8("a"), { name: "HMAC", hash: "SHA-1" }, false, ["sign"]); const made = await Promise.all([Crypto, SubtleCrypto, CryptoKey].map(async (one: any) => (await told(async () => new one()))[1]));
return [crypto instanceof Crypto, subtle instanceof SubtleCrypto, crypto.subtle === subtle, key instanceof CryptoKey, [crypto, subtle, key].map(String), made, Object.keys(key), Object.getOwnPropertyNames(key)];`,
    {
      value: [
        true,
        true,
        true,
        true,
        ["[object Crypto]", "[object SubtleCrypto]", "[object CryptoKey]"],
        ["Illegal constructor", "Illegal constructor", "Illegal constructor"],
        [],
        [],
      ],
    },
  ),
  cryptoRow(
    "action",
    "performance",
    "A function measures time.",
    `${FOLDER}/27_performance.ts`,
    `const start = performance.now(); performance.mark("a", { detail: 1 }); await new Promise((resolve) => setTimeout(resolve, 5)); const measure = performance.measure("b", "a");
return [performance.now() > start, Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000, measure.duration > 0, performance.getEntriesByType("mark").map((entry) => [entry.name, (entry as any).detail]), performance.getEntries().length, measure instanceof PerformanceMeasure];`,
    { value: [true, true, true, [["a", 1]], 2, true] },
  ),
  {
    id: "web-crypto/fresh",
    rule: "What a call changes of the classes, it changes for itself.",
    citation: "get-convex/convex-backend crates/isolate/src/context_cache.rs",
    files: moduleFile(
      "m",
      `const places = (): any[] => [Crypto, Crypto.prototype, SubtleCrypto, SubtleCrypto.prototype, CryptoKey, CryptoKey.prototype, crypto, crypto.subtle, performance, Object.getPrototypeOf(performance)];
export const spoil = action({ args: {}, handler: async () => { crypto.subtle.digest = (async () => new ArrayBuffer(0)) as any; for (const place of places()) Object.defineProperty(place, "left", { value: 1 }); return null; } });
export const look = action({ args: {}, handler: async () => [places().filter((place) => Object.hasOwn(place, "left")).length, (await crypto.subtle.digest("SHA-1", new Uint8Array(0))).byteLength] });`,
    ),
    steps: [
      { call: "action", path: "m:spoil" },
      { call: "action", path: "m:look" },
    ],
    expected: { value: [0, 20] },
  },
];

export const rows: readonly Row[] = [...errors, ...classes];
