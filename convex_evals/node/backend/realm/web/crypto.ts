/** The host's side of `isolate/web/subtle.ts`: the host's own `crypto.subtle`, on copies of what a context gives. */

import { randomFillSync, webcrypto } from "node:crypto";
import { types } from "node:util";
import type {
  AlgorithmText,
  BytesText,
  CryptoHost,
  CryptoOutcome,
  CryptoRequest,
  DescribedKey,
  HostKey,
} from "../../isolate/types.ts";
import { bytesOf, copyInto } from "./bytes.ts";

type Key = webcrypto.CryptoKey;

/** The host's methods check what they are given. */
type Subtle = Readonly<Record<CryptoRequest["operation"], (...args: readonly unknown[]) => Promise<unknown>>>;

const subtle = webcrypto.subtle as unknown as Subtle;

const keys = new WeakMap<HostKey, Key>();

interface Given {
  readonly key: Key | undefined;
  readonly publicKey: Key | undefined;
  readonly data: Uint8Array | null;
  readonly signature: Uint8Array | null;
}

export const CRYPTO_HOST: CryptoHost = {
  fillRandom: (bytes) => void randomFillSync(bytesOf(bytes)),
  subtle: (request, key, publicKey, data, signature, allocate, settle) => {
    // Copied now: the app can go on writing.
    const given = {
      key: key ? keys.get(key) : undefined,
      publicKey: publicKey ? keys.get(publicKey) : undefined,
      data: data && bytesOf(data).slice(),
      signature: signature && bytesOf(signature).slice(),
    };
    const tell = (outcome: CryptoOutcome, first: Key | null = null, second: Key | null = null): void => {
      try {
        settle(JSON.stringify(outcome, withBytes), first && handleFor(first), second && handleFor(second));
      } catch {
        // The app has replaced what its context works with.
      }
    };
    const answer = (value: unknown): void => {
      if (value instanceof ArrayBuffer) {
        copyInto(allocate, new Uint8Array(value));
        tell({ allocated: true });
      } else if (types.isCryptoKey(value)) tell({ key: described(value) }, value);
      else if (isPair(value)) {
        const { publicKey: first, privateKey: second } = value;
        tell({ publicKey: described(first), privateKey: described(second) }, first, second);
      } else tell({ value: value as boolean | object });
    };
    // With the whole stack, of which the app may have left little: nothing may fail between a promise and its handler.
    queueMicrotask(() => {
      perform(request, given)
        .then(answer)
        .catch((error: unknown) => tell({ error: errorOf(error) }));
    });
  },
};

async function perform(request: string, { key, publicKey, data, signature }: Given): Promise<unknown> {
  const asked = JSON.parse(request) as CryptoRequest;
  const { operation, format, jwk, extractable, usages, length } = asked;
  const algorithm = asked.algorithm && parameters(asked.algorithm, publicKey);
  switch (operation) {
    case "digest":
      return await subtle.digest(algorithm, data);
    case "encrypt":
    case "decrypt":
    case "sign":
      return await subtle[operation](algorithm, key, data);
    case "verify":
      return await subtle.verify(algorithm, key, signature, data);
    case "generateKey":
      return await subtle.generateKey(algorithm, extractable, usages);
    case "importKey":
      return await subtle.importKey(format, data ?? jwk, algorithm, extractable, usages);
    case "exportKey":
      return await subtle.exportKey(format, key);
    case "deriveBits":
      return await subtle.deriveBits(algorithm, key, length);
    case "deriveKey":
      return await subtle.deriveKey(algorithm, key, parameters(asked.derived!), extractable, usages);
  }
}

function parameters(text: AlgorithmText, publicKey?: Key): object {
  const values = Object.entries(text).map(([name, value]) => [
    name,
    isBytes(value) ? Uint8Array.from(value.bytes) : value,
  ]);
  return { ...(Object.fromEntries(values) as object), ...(publicKey ? { public: publicKey } : {}) };
}

function isBytes(value: AlgorithmText[string]): value is BytesText {
  return typeof value === "object" && "bytes" in value;
}

/** For a context to keep, where nothing can be put on it or found behind it. */
function handleFor(key: Key): HostKey {
  const handle = Object.freeze(Object.create(null) as object);
  keys.set(handle, key);
  return handle;
}

function described({ type, extractable, algorithm, usages }: Key): DescribedKey {
  return { type, extractable, algorithm: { ...algorithm }, usages };
}

function withBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: [...value] } : value;
}

function isPair(value: unknown): value is { readonly publicKey: Key; readonly privateKey: Key } {
  return typeof value === "object" && value !== null && "privateKey" in value;
}

function errorOf(error: unknown): { readonly name: string; readonly message: string } {
  const { message } = error as Error;
  if (error instanceof DOMException) return { name: error.name, message };
  return { name: error instanceof TypeError ? "TypeError" : "OperationError", message };
}
