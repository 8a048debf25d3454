/**
 * JSON Web Tokens and the keys that sign them, by `jose`.
 *
 * Convex picks a key as `jose` does: by `kid`, key type and `use`; where several fit, the token is refused
 * (ramosbugs/openidconnect-rs src/verification/mod.rs, `signing_key`).
 */

import { decodeProtectedHeader } from "jose/decode/protected_header";
import { createLocalJWKSet } from "jose/jwks/local";
import { compactVerify } from "jose/jws/compact/verify";
import { decodeJwt } from "jose/jwt/decode";
import type { JWK } from "jose";

export type Claims = Readonly<Record<string, unknown>>;
export type SigningAlgorithm = "RS256" | "ES256" | "EdDSA";

export interface ParsedToken {
  readonly text: string;
  readonly keyId: string | null;
  readonly claims: Claims;
}

/** A public key as a key set publishes it. */
export type Jwk = JWK;

/** The parts of a token, unverified; null for a text that is no token. */
export function parseToken(text: string): ParsedToken | null {
  try {
    const { kid } = decodeProtectedHeader(text);
    return { text, keyId: typeof kid === "string" ? kid : null, claims: decodeJwt(text) };
  } catch {
    return null;
  }
}

/** The keys of a key set's JSON; null when it is none. */
export function parseKeySet(text: string): Jwk[] | null {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    return Array.isArray(keys) ? keys.filter((key) => typeof key === "object" && key !== null).map(publicPart) : null;
  } catch {
    return null;
  }
}

/** Whether the one of `keys` that fits the token has signed it, with one of `algorithms`. */
export async function isSignedBy(
  token: ParsedToken,
  keys: readonly Jwk[],
  algorithms: readonly SigningAlgorithm[],
): Promise<boolean> {
  try {
    await compactVerify(token.text, createLocalJWKSet({ keys: [...keys] }), { algorithms: [...algorithms] });
    return true;
  } catch {
    // No key fits, or one is of another kind or broken: none has signed it.
    return false;
  }
}

// Sets carry members (`key_ops`, even private ones) that `jose` refuses for verification, and Convex ignores.
function publicPart({ kid, kty, alg, use, n, e, crv, x, y }: Jwk): Jwk {
  const part = { kid, kty, alg, use, n, e, crv, x, y };
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
}
