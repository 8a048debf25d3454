/** What `crypto.subtle` computes, against published vectors. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const FOLDER = "get-convex/convex-backend npm-packages/udf-runtime/src";
const CRYPTO = `${FOLDER}/00_crypto.ts`;
const IMPORT = `${FOLDER}/crypto/import_key.ts`;
const GENERATE = `${FOLDER}/crypto/generate_key.ts`;

const PRELUDE = `
const hex = (bytes: ArrayBuffer | Uint8Array): string => Array.from(new Uint8Array(bytes as any), (b) => b.toString(16).padStart(2, "0")).join("");
const unhex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (b) => parseInt(b, 16));
const unbase64 = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const utf8 = (text: string) => new TextEncoder().encode(text);
const told = async (work: () => Promise<unknown>): Promise<any> => { try { return await work(); } catch (e: any) { return [e.name, e.message, e instanceof DOMException, e instanceof TypeError]; } };
const { subtle } = crypto;
`;

/** A row whose function has a few helpers for bytes. */
export function cryptoRow(
  kind: "query" | "mutation" | "action",
  id: string,
  rule: string,
  citation: string,
  body: string,
  expected: Expected,
): Row {
  const files = moduleFile(
    "m",
    `${PRELUDE}export const run = ${kind}({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `web-crypto/${id}`, rule, citation, files, steps: [{ call: kind, path: "m:run" }], expected };
}

// Made once with Node's own.
const RSA = {
  n: "4iiJ2OAO-OchZhU3AisY2YVH2hNQj4Ma-wa0rvdHcIo8WJA4Yr3Zi-OTCfI8tLnMuxMtEDWGhLANiZ3aqvQWOWCfZgJMmwSTQCOdWj7wME8sLCLnUEyQQcYsMqOB1A99zKx9wVQet_vopq5eJ-lf1kpNO7RWAM1K9hwSmoXU4M62ZNStnSPeVk5R-NYGS9X2tnNS3LDoKel6oaB2FpE9VJoS_GYoIg0dEpsOATdMUoelUwmLEbsX6qw3iW5b8B2EIkFrBSD4WFKFup9Vx6ZQkmrriOW1pF04UMsG9BsTa4S1KEp1w1HdrDBrfPKSie-okviwLyFjcDh1VGCKl677aw",
  signature:
    "lDxfKz/pT+wk9KoncCpwJDt4SpE3r7Nlgp5p9F9fqpRyw3uoRMiBnmDwqvJBBaLZo24pqhwkxlu+lrDCMYveg1PcmuXt3VOlZhKuiMxIEU6z/WdbuMNioJwqRVYVBgU6m4qYgcxa80mH+ajsbiYtt2CqIIDCswAhhT92f+NwsHe6jvLbxaKYSziADN3m7Wa/hdo3m5UGA8Yk+RHjzmTQotRgHc4Ii3k11RpCjJbdr2Rr6S7Q59c0a419/7vQqPl6TS1wsQf8x1gDnnDswCsMV4cTQrQyEFrsB5SJLJwU9nXra+s/2r/RzNog2/VrAMNowoHXUnVSpEciNltvvZZx1g==",
};
const EC = {
  x: "X-v5l0yzVZTbtFILFDTN-NjsoHyfDaZ_xRkaqP3gEhw",
  y: "b5D5W8DYC39LmcXKgxjeIE-7brBkZRNgdfLGnRKm734",
  signature: "kKUVNJrSqO71ofkW+gcSynxPBGe45WN6xSEZ9jCxyeClPkVn1oqNtD8KqHXSjmXKtkpDikptez1eDGyYDKswTg==",
  spki: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEX+v5l0yzVZTbtFILFDTN+NjsoHyfDaZ/xRkaqP3gEhxvkPlbwNgLf0uZxcqDGN4gT7tusGRlE2B18sadEqbvfg==",
};
// https://www.rfc-editor.org/rfc/rfc8032#section-7.1, test 2
const ED = {
  secret: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
  public: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
  signature:
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
};

export const rows: readonly Row[] = [
  cryptoRow(
    "query",
    "digests",
    "Digests are those of FIPS 180, of buffers and of parts of them.",
    CRYPTO,
    `const padded = utf8("xabcx"); const part = padded.subarray(1, 4); const view = new DataView(padded.buffer, 1, 3);
return [hex(await subtle.digest("sha-1", part)), hex(await subtle.digest({ name: "SHA-256" }, view)), hex(await subtle.digest("SHA-384", part.slice().buffer)), hex(await subtle.digest("SHA-512", part)), (await subtle.digest("SHA-1", part)) instanceof ArrayBuffer];`,
    {
      value: [
        "a9993e364706816aba3e25717850c26c9cd0d89d",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        true,
      ],
    },
  ),
  cryptoRow(
    "query",
    "hmac",
    "Message authentication codes are those of RFC 4231, and are verified.",
    CRYPTO,
    `const key = await subtle.importKey("raw", utf8("Jefe"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]); const data = utf8("what do ya want for nothing?");
const made = await subtle.sign("HMAC", key, data); return [hex(made), await subtle.verify("HMAC", key, made, data), await subtle.verify("HMAC", key, made, utf8("else")), key.algorithm];`,
    {
      value: [
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        true,
        false,
        { hash: { name: "SHA-256" }, length: 32, name: "HMAC" },
      ],
    },
  ),
  cryptoRow(
    "query",
    "rsa-jwk",
    "A signature is verified with an RSA key that is a JSON Web Key.",
    IMPORT,
    `const jwk = { kty: "RSA", n: "${RSA.n}", e: "AQAB", alg: "RS256", kid: "1", use: "sig" };
const key = await subtle.importKey("jwk", jwk as any, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, true, ["verify"]); const { publicExponent, ...rest } = key.algorithm as any;
return [await subtle.verify("RSASSA-PKCS1-v1_5", key, unbase64("${RSA.signature}"), utf8("abc")), await subtle.verify("RSASSA-PKCS1-v1_5", key, unbase64("${RSA.signature}"), utf8("abd")), hex(publicExponent), publicExponent instanceof Uint8Array, rest, (await subtle.exportKey("jwk", key)).n === jwk.n];`,
    {
      value: [
        true,
        false,
        "010001",
        true,
        { hash: { name: "SHA-256" }, modulusLength: 2048, name: "RSASSA-PKCS1-v1_5" },
        true,
      ],
    },
  ),
  cryptoRow(
    "mutation",
    "ecdsa",
    "A signature is verified with an EC key, as JSON Web Key, as SPKI and raw.",
    IMPORT,
    `const curve = { name: "ECDSA", namedCurve: "P-256" }; const jwk = { kty: "EC", crv: "P-256", x: "${EC.x}", y: "${EC.y}" };
const key = await subtle.importKey("jwk", jwk, curve, true, ["verify"]); const raw = await subtle.exportKey("raw", key);
const keys = [key, await subtle.importKey("spki", unbase64("${EC.spki}"), curve, true, ["verify"]), await subtle.importKey("raw", raw, curve, true, ["verify"])];
return [await Promise.all(keys.map((one) => subtle.verify({ name: "ECDSA", hash: "SHA-256" }, one, unbase64("${EC.signature}"), utf8("abc")))), raw.byteLength, hex(await subtle.exportKey("spki", key)) === hex(unbase64("${EC.spki}")), key.type, key.usages, key.extractable];`,
    { value: [[true, true, true], 65, true, "public", ["verify"], true] },
  ),
  cryptoRow(
    "query",
    "ed25519",
    "Signatures of Ed25519 are those of RFC 8032.",
    IMPORT,
    `const secret = await subtle.importKey("pkcs8", unhex("302e020100300506032b657004220420${ED.secret}"), "Ed25519", true, ["sign"]); const open = await subtle.importKey("raw", unhex("${ED.public}"), { name: "Ed25519" }, true, ["verify"]);
const made = await subtle.sign("ed25519", secret, unhex("72")); return [hex(made), await subtle.verify("Ed25519", open, made, unhex("72")), await subtle.verify("Ed25519", open, made, unhex("73")), hex(await subtle.exportKey("pkcs8", secret)).slice(-64) === "${ED.secret}"];`,
    { value: [ED.signature, true, false, true] },
  ),
  cryptoRow(
    "query",
    "derive",
    "PBKDF2 and HKDF (RFC 5869) derive bits and keys.",
    `${FOLDER}/crypto/derive_bits.ts`,
    `const password = await subtle.importKey("raw", utf8("password"), "PBKDF2", false, ["deriveBits", "deriveKey"]); const slow = { name: "PBKDF2", hash: "SHA-256", salt: utf8("salt"), iterations: 4096 };
const material = await subtle.importKey("raw", new Uint8Array(22).fill(11), "HKDF", false, ["deriveBits"]);
const key = await subtle.deriveKey(slow, password, { name: "AES-GCM", length: 256 }, true, ["encrypt"]);
return [hex(await subtle.deriveBits(slow, password, 256)), hex(await subtle.exportKey("raw", key)), hex(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: unhex("000102030405060708090a0b0c"), info: unhex("f0f1f2f3f4f5f6f7f8f9") }, material, 336))];`,
    {
      value: [
        "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a",
        "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a",
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
      ],
    },
  ),
  cryptoRow(
    "query",
    "aes",
    "What AES encrypts, it decrypts; what was changed, it refuses.",
    CRYPTO,
    `const key = await subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt", "decrypt"]); const params = { name: "AES-GCM", iv: new Uint8Array(12), additionalData: utf8("head") };
const made = new Uint8Array(await subtle.encrypt(params, key, utf8("secret"))); const back = new TextDecoder().decode(await subtle.decrypt(params, key, made)); made[0]! ^= 1;
const cbc = await subtle.importKey("raw", new Uint8Array(16), "AES-CBC", false, ["encrypt"]);
return [back, made.length, (await told(() => subtle.decrypt(params, key, made)))[0], hex(await subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(16) }, cbc, new Uint8Array(0))), await subtle.exportKey("jwk", key)];`,
    {
      value: [
        "secret",
        22,
        "OperationError",
        "0143db63ee66b0cdff9f69917680151e",
        { alg: "A128GCM", ext: true, k: "AAAAAAAAAAAAAAAAAAAAAA", key_ops: ["encrypt", "decrypt"], kty: "oct" },
      ],
    },
  ),
  cryptoRow(
    "action",
    "generated",
    "Actions generate keys, and sign and agree with them.",
    GENERATE,
    `const { publicKey, privateKey } = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, true, ["sign", "verify"]) as CryptoKeyPair; const alg = { name: "ECDSA", hash: { name: "SHA-384" } };
const rsa = await subtle.generateKey({ name: "RSA-OAEP", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, false, ["encrypt", "decrypt"]) as CryptoKeyPair;
const [a, b] = await Promise.all([1, 2].map(async () => await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]) as CryptoKeyPair));
const agreed = await Promise.all([[a, b], [b, a]].map(async ([own, other]) => hex(await subtle.deriveBits({ name: "ECDH", public: other!.publicKey }, own!.privateKey, 256))));
return [await subtle.verify(alg, publicKey, await subtle.sign(alg, privateKey, utf8("a")), utf8("a")), privateKey.type, privateKey.usages, publicKey.usages, new TextDecoder().decode(await subtle.decrypt("RSA-OAEP", rsa.privateKey, await subtle.encrypt("RSA-OAEP", rsa.publicKey, utf8("b")))), agreed[0] === agreed[1], hex(crypto.getRandomValues(new Uint8Array(8))) !== hex(new Uint8Array(8))];`,
    { value: [true, "private", ["sign"], ["verify"], "b", true, true] },
  ),
];
