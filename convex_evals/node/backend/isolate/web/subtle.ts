/**
 * `SubtleCrypto`. The host does the work, with its own keys and copies of the bytes.
 *
 * https://w3c.github.io/webcrypto/#subtlecrypto-interface
 * get-convex/convex-backend npm-packages/udf-runtime/src/00_crypto.ts
 */

import { asked } from "../host.ts";
import type { CryptoOutcome, CryptoRequest, DescribedKey, HostKey } from "../types.ts";
import { bytesIn } from "./buffers.ts";
import { normalized, type AlgorithmUse } from "./crypto_algorithms.ts";
import { createKey, hostKeyOf, isCryptoKey, type CryptoKey } from "./crypto_key.ts";
import { DOMException } from "./dom_exception.ts";
import { defineInterface, requireArguments } from "./interface.ts";
import { sources } from "./sources.ts";

const IN_NODE = "Consider calling an action defined in Node.js instead (https://docs.convex.dev/functions/actions).";

// Whose signatures and texts differ each time.
const RANDOM_SIGNATURES: ReadonlySet<string> = new Set(["ECDSA", "RSA-PSS"]);
const JWK_TEXTS = ["kty", "use", "alg", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq", "qi", "k"] as const;

interface Given {
  readonly key?: CryptoKey | null;
  readonly publicKey?: CryptoKey | null;
  readonly data?: Uint8Array;
  readonly signature?: Uint8Array;
}

interface KeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

export class SubtleCrypto {
  constructor() {
    throw new TypeError("Illegal constructor");
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    checkArguments(arguments.length, 2, "digest");
    const { text } = normalized(algorithm, "digest");
    return (await ask({ operation: "digest", algorithm: text }, { data: bytes(data) })) as ArrayBuffer;
  }

  async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    checkArguments(arguments.length, 3, "encrypt");
    const { text } = normalized(algorithm, "encrypt");
    if (text.name === "RSA-OAEP") sources().requireHostRandomness();
    const given = { key: checkedKey(key), data: bytes(data) };
    return (await ask({ operation: "encrypt", algorithm: text }, given)) as ArrayBuffer;
  }

  async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    checkArguments(arguments.length, 3, "decrypt");
    const { text } = normalized(algorithm, "encrypt");
    const given = { key: checkedKey(key), data: bytes(data) };
    return (await ask({ operation: "decrypt", algorithm: text }, given)) as ArrayBuffer;
  }

  async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    checkArguments(arguments.length, 3, "sign");
    const { text } = normalized(algorithm, "sign");
    if (RANDOM_SIGNATURES.has(text.name)) sources().requireHostRandomness();
    const given = { key: checkedKey(key), data: bytes(data) };
    return (await ask({ operation: "sign", algorithm: text }, given)) as ArrayBuffer;
  }

  async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
    checkArguments(arguments.length, 4, "verify");
    const { text } = normalized(algorithm, "sign");
    const given = { key: checkedKey(key), signature: bytes(signature), data: bytes(data) };
    return (await ask({ operation: "verify", algorithm: text }, given)) as boolean;
  }

  async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey | KeyPair> {
    checkArguments(arguments.length, 3, "generateKey");
    const { text } = implemented(algorithm, "generateKey", "generateKey");
    sources().requireHostRandomness();
    const request = { algorithm: text, extractable: Boolean(extractable), usages: texts(usages) };
    return (await ask({ operation: "generateKey", ...request }, {})) as CryptoKey | KeyPair;
  }

  async importKey(
    format: unknown,
    keyData: unknown,
    algorithm: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    checkArguments(arguments.length, 5, "importKey");
    const data = bytesIn(keyData);
    const name = String(format);
    if ((name === "jwk") === (data !== undefined)) throw new TypeError(`wrong keyData for format ${name}`);
    const { text } = implemented(algorithm, "importKey", "importKey");
    const request = { format: name, algorithm: text, extractable: Boolean(extractable), usages: texts(usages) };
    const given = data ? { data } : {};
    const key = data ? {} : { jwk: webKey(keyData) };
    return (await ask({ operation: "importKey", ...request, ...key }, given)) as CryptoKey;
  }

  async exportKey(format: unknown, key: unknown): Promise<ArrayBuffer | object> {
    checkArguments(arguments.length, 2, "exportKey");
    const answer = await ask({ operation: "exportKey", format: String(format) }, { key: checkedKey(key) });
    return answer as ArrayBuffer | object;
  }

  async deriveBits(algorithm: unknown, baseKey: unknown, length: unknown = null): Promise<ArrayBuffer> {
    checkArguments(arguments.length, 2, "deriveBits");
    const { text, publicKey } = normalized(algorithm, "derive");
    const given = { key: checkedKey(baseKey), publicKey };
    const request = { algorithm: text, length: length === null ? null : Number(length) };
    return (await ask({ operation: "deriveBits", ...request }, given)) as ArrayBuffer;
  }

  async deriveKey(
    algorithm: unknown,
    baseKey: unknown,
    derivedKeyType: unknown,
    extractable: unknown,
    usages: unknown,
  ): Promise<CryptoKey> {
    checkArguments(arguments.length, 5, "deriveKey");
    const { text, publicKey } = normalized(algorithm, "derive");
    const { text: derived } = implemented(derivedKeyType, "derived", "deriveKey");
    const request = { algorithm: text, derived, extractable: Boolean(extractable), usages: texts(usages) };
    const given = { key: checkedKey(baseKey), publicKey };
    return (await ask({ operation: "deriveKey", ...request }, given)) as CryptoKey;
  }

  async wrapKey(): Promise<never> {
    throw new Error(`Not implemented: wrapKey for SubtleCrypto. ${IN_NODE}`);
  }

  async unwrapKey(): Promise<never> {
    throw new Error(`Not implemented: unwrapKey for SubtleCrypto. ${IN_NODE}`);
  }
}

defineInterface(SubtleCrypto, "SubtleCrypto");

function checkArguments(count: number, required: number, name: string): void {
  requireArguments(count, required, `'${name}' on 'SubtleCrypto'`);
}

function implemented(algorithm: unknown, use: AlgorithmUse, operation: string): ReturnType<typeof normalized> {
  const known = normalized(algorithm, use);
  if (known.text.name !== "AES-KW") return known;
  throw new Error(`Not implemented: crypto.subtle.${operation} for AES-KW. ${IN_NODE}`);
}

function bytes(source: unknown): Uint8Array {
  const found = bytesIn(source);
  if (!found) throw new TypeError("data is not of type BufferSource.");
  return found;
}

function checkedKey(value: unknown): CryptoKey {
  if (!isCryptoKey(value)) throw new TypeError("key is not of type CryptoKey.");
  return value;
}

function texts(values: unknown): string[] {
  return [...(values as Iterable<unknown>)].map(String);
}

// https://w3c.github.io/webcrypto/#JsonWebKey-dictionary
function webKey(given: unknown): Record<string, unknown> {
  if (typeof given !== "object" || given === null) throw new TypeError("keyData is not a JsonWebKey");
  const { key_ops: operations, ext, ...parts } = given as Readonly<Record<string, unknown>>;
  return {
    ...Object.fromEntries(JWK_TEXTS.filter((name) => parts[name] !== undefined).map((n) => [n, String(parts[n])])),
    ...(operations === undefined ? {} : { key_ops: texts(operations) }),
    ...(ext === undefined ? {} : { ext: Boolean(ext) }),
  };
}

// The host's keys go from a private field into its function, and from its callback into one.
async function ask(request: CryptoRequest, { key, publicKey, data, signature }: Given): Promise<unknown> {
  const text = JSON.stringify(request);
  return await new Promise((resolve, reject) => {
    let room: Uint8Array | null = null;
    const allocate = (length: number): Uint8Array => (room = new Uint8Array(length));
    const settle = (outcome: string, first: HostKey | null, second: HostKey | null): void => {
      try {
        resolve(answered(JSON.parse(outcome) as CryptoOutcome, first, second) ?? room!.buffer);
      } catch (error) {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the app may have replaced anything.
        reject(error);
      }
    };
    asked((host) => {
      // Not through an array: its iterator is the app's to replace.
      const own = key ? hostKeyOf(key) : null;
      const other = publicKey ? hostKeyOf(publicKey) : null;
      host.crypto.subtle(text, own, other, data ?? null, signature ?? null, allocate, settle);
      return null;
    });
  });
}

/** Throws the error of an outcome; undefined where it is bytes. */
function answered(told: CryptoOutcome, first: HostKey | null, second: HostKey | null): unknown {
  if ("error" in told) throw failure(told.error);
  if ("value" in told) return told.value;
  if ("key" in told) return keyOf(first!, told.key);
  if (!("publicKey" in told)) return undefined;
  return { publicKey: keyOf(first!, told.publicKey), privateKey: keyOf(second!, told.privateKey) };
}

function keyOf(handle: HostKey, described: DescribedKey): CryptoKey {
  const { algorithm } = described;
  const { publicExponent } = algorithm;
  if (typeof publicExponent !== "object" || !("bytes" in publicExponent)) return createKey(handle, described);
  const numbers = Uint8Array.from(publicExponent.bytes);
  return createKey(handle, { ...described, algorithm: { ...algorithm, publicExponent: numbers } });
}

function failure({ name, message }: { readonly name: string; readonly message: string }): Error {
  return name === "TypeError" ? new TypeError(message) : new DOMException(message, name);
}
