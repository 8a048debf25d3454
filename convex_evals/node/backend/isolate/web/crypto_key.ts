/**
 * `CryptoKey`. The key itself stays at the host.
 *
 * https://w3c.github.io/webcrypto/#cryptokey-interface
 * get-convex/convex-backend npm-packages/udf-runtime/src/crypto/crypto_key.ts
 */

import type { DescribedKey, HostKey } from "../types.ts";
import { defineInterface } from "./interface.ts";

// Only this module makes keys.
const OWN = Symbol("own");

/** What stands for a key at the host: for `host.ts`'s `asked` alone. Throws `TypeError` for anything but a key. */
export let hostKeyOf: (key: CryptoKey) => HostKey;

/** A key that the host has made. */
export let createKey: (handle: HostKey, described: DescribedKey) => CryptoKey;

let hasBrand: (value: object) => boolean;

export function isCryptoKey(value: unknown): value is CryptoKey {
  return typeof value === "object" && value !== null && hasBrand(value);
}

export class CryptoKey {
  #handle: HostKey | undefined;
  #described: DescribedKey | undefined;

  static {
    hasBrand = (value) => #handle in value;
    hostKeyOf = (key) => key.#handle!;
    createKey = (handle, described) => {
      const key = new CryptoKey(OWN);
      key.#handle = handle;
      key.#described = described;
      return key;
    };
  }

  /** @internal */
  constructor(secret?: symbol) {
    if (secret !== OWN) throw new TypeError("Illegal constructor");
  }

  get type(): string {
    return this.#described!.type;
  }

  get extractable(): boolean {
    return this.#described!.extractable;
  }

  get algorithm(): object {
    return this.#described!.algorithm;
  }

  get usages(): readonly string[] {
    return this.#described!.usages;
  }
}

defineInterface(CryptoKey, "CryptoKey");
