/**
 * The algorithms of `crypto.subtle`: which operation knows which, and their parameters as values of JSON.
 *
 * https://w3c.github.io/webcrypto/#algorithm-normalization
 * get-convex/convex-backend npm-packages/udf-runtime/src/crypto/normalize_algorithm.ts
 */

import type { AlgorithmText } from "../types.ts";
import { bytesIn } from "./buffers.ts";
import { isCryptoKey, type CryptoKey } from "./crypto_key.ts";
import { DOMException } from "./dom_exception.ts";

const HASHES = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
const SIGNING = ["RSASSA-PKCS1-v1_5", "RSA-PSS", "ECDSA", "HMAC", "Ed25519"];
const CIPHERS = ["RSA-OAEP", "AES-CTR", "AES-CBC", "AES-GCM"];
const AGREEMENT = ["ECDH", "X25519"];
const DERIVING = ["HKDF", "PBKDF2"];

const KNOWN = {
  digest: HASHES,
  sign: SIGNING,
  encrypt: CIPHERS,
  derive: [...AGREEMENT, ...DERIVING],
  derived: ["HMAC", "AES-CTR", "AES-CBC", "AES-GCM", "AES-KW"],
  generateKey: [...SIGNING, ...CIPHERS, ...AGREEMENT, "AES-KW"],
  importKey: [...SIGNING, ...CIPHERS, ...AGREEMENT, ...DERIVING, "AES-KW"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type AlgorithmUse = keyof typeof KNOWN;

const BYTES = ["iv", "counter", "additionalData", "label", "salt", "info", "publicExponent"] as const;
const NUMBERS = ["length", "tagLength", "modulusLength", "saltLength", "iterations"] as const;

type Parameters = Readonly<Record<string, unknown>>;

export interface Normalized {
  readonly text: AlgorithmText;
  /** The other side's key, for agreement. */
  readonly publicKey: CryptoKey | null;
}

/** What the app asks for, read once. What is missing or out of range, the host finds. */
export function normalized(algorithm: unknown, use: AlgorithmUse): Normalized {
  const isObject = typeof algorithm === "object" && algorithm !== null;
  const given: Parameters = isObject ? (algorithm as Parameters) : { name: algorithm };
  const name = nameOf(given["name"], use);
  const text: AlgorithmText = { name };
  for (const member of BYTES) {
    const value = given[member];
    if (value === undefined) continue;
    const bytes = bytesIn(value);
    if (!bytes) throw new TypeError(`'${member}' of the algorithm is not of type BufferSource.`);
    text[member] = { bytes: Array.from(bytes) };
  }
  for (const member of NUMBERS) {
    const value = given[member];
    if (value !== undefined) text[member] = Number(value);
  }
  const { hash, namedCurve, public: publicKey } = given;
  if (hash !== undefined) text["hash"] = normalized(hash, "digest").text;
  if (namedCurve !== undefined) text["namedCurve"] = String(namedCurve);
  if (publicKey === undefined) return { text, publicKey: null };
  if (!isCryptoKey(publicKey)) throw new TypeError("'public' of the algorithm is not of type CryptoKey.");
  return { text, publicKey };
}

function nameOf(given: unknown, use: AlgorithmUse): string {
  if (given === undefined) throw new TypeError("'name' missing in algorithm");
  const name = String(given).toLowerCase();
  const known = KNOWN[use].find((one) => one.toLowerCase() === name);
  if (known !== undefined) return known;
  if (use === "sign" || use === "encrypt") {
    throw new DOMException("invalid algorithm for key", "InvalidAccessError");
  }
  throw new DOMException(`Unrecognized or invalid algorithm ${name}`, "NotSupportedError");
}
