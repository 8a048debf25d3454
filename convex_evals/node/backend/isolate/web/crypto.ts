/**
 * `crypto`. In queries and mutations, its random values come from the seed of the call.
 *
 * https://w3c.github.io/webcrypto/#crypto-interface
 * get-convex/convex-backend npm-packages/udf-runtime/src/00_crypto.ts
 */

import { bytesIn, typedArrayName } from "./buffers.ts";
import { DOMException } from "./dom_exception.ts";
import { defineInterface, requireArguments } from "./interface.ts";
import { sources } from "./sources.ts";
import { SubtleCrypto } from "./subtle.ts";

export { CryptoKey } from "./crypto_key.ts";
export { SubtleCrypto };

const BYTES_PER_CALL = 65_536;

const subtle = Object.create(SubtleCrypto.prototype) as SubtleCrypto;

export class Crypto {
  constructor() {
    throw new TypeError("Illegal constructor");
  }

  get subtle(): SubtleCrypto {
    return subtle;
  }

  getRandomValues<T>(array: T): T {
    requireArguments(arguments.length, 1, "'getRandomValues' on 'Crypto'");
    const bytes = bytesIn(array);
    const name = typedArrayName(array);
    if (!bytes || name === undefined || name.startsWith("Float")) {
      throw new DOMException("The provided ArrayBufferView is not an integer array type", "TypeMismatchError");
    }
    if (bytes.length > BYTES_PER_CALL) {
      throw new DOMException(`The requested length exceeds ${BYTES_PER_CALL} bytes`, "QuotaExceededError");
    }
    sources().fillRandom(bytes);
    return array;
  }

  randomUUID(): string {
    const bytes = new Uint8Array(16);
    sources().fillRandom(bytes);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}

defineInterface(Crypto, "Crypto");

export const crypto = Object.create(Crypto.prototype) as Crypto;
