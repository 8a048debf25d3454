/** JSON Web Tokens and the keys that sign them: RFC 7515, RFC 7517, RFC 8037. */

import type { webcrypto } from "node:crypto";

export type Claims = Readonly<Record<string, unknown>>;
export type SigningAlgorithm = "RS256" | "ES256" | "EdDSA";

export interface ParsedToken {
  readonly algorithm: string;
  readonly keyId: string | null;
  readonly claims: Claims;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly signed: Uint8Array<ArrayBuffer>;
}

/** A public key as a key set publishes it. */
export type Jwk = webcrypto.JsonWebKey & { readonly kid?: string; readonly use?: string };

/** The parts of a token, unverified; null for a text that is no token. */
export function parseToken(token: string): ParsedToken | null {
  const [header, payload, signature, ...rest] = token.split(".");
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return null;
  const head = decodeObject(header);
  const claims = decodeObject(payload);
  if (!head || !claims) return null;
  return {
    algorithm: String(head["alg"]),
    keyId: typeof head["kid"] === "string" ? head["kid"] : null,
    claims,
    signature: new Uint8Array(Buffer.from(signature, "base64url")),
    signed: new Uint8Array(Buffer.from(`${header}.${payload}`, "ascii")),
  };
}

/** The keys of a key set's JSON; null when it is none. */
export function parseKeySet(text: string): Jwk[] | null {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    return Array.isArray(keys) ? (keys as Jwk[]) : null;
  } catch {
    return null;
  }
}

/** Whether one of `keys` has signed the token with `algorithm`. */
export async function isSignedBy(token: ParsedToken, keys: readonly Jwk[], algorithm: SigningAlgorithm): Promise<boolean> {
  if (token.algorithm !== algorithm) return false;
  for (const key of keys) {
    if (token.keyId !== null && key.kid !== undefined && key.kid !== token.keyId) continue;
    if (await verifies(token, key, algorithm)) return true;
  }
  return false;
}

async function verifies(token: ParsedToken, key: Jwk, algorithm: SigningAlgorithm): Promise<boolean> {
  const { imported, verified } = PARAMETERS[algorithm];
  try {
    const publicKey = await crypto.subtle.importKey("jwk", publicPart(key), imported, false, ["verify"]);
    return await crypto.subtle.verify(verified, publicKey, token.signature, token.signed);
  } catch {
    // A key of another kind, or one that is broken, has signed nothing.
    return false;
  }
}

const PARAMETERS = {
  RS256: { imported: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, verified: { name: "RSASSA-PKCS1-v1_5" } },
  ES256: { imported: { name: "ECDSA", namedCurve: "P-256" }, verified: { name: "ECDSA", hash: "SHA-256" } },
  EdDSA: { imported: { name: "Ed25519" }, verified: { name: "Ed25519" } },
} as const satisfies Record<SigningAlgorithm, object>;

// Sets carry members (`use`, `key_ops`, even private ones) that an import for
// verification would stumble over.
function publicPart({ kty, n, e, crv, x, y }: Jwk): webcrypto.JsonWebKey {
  const part = { kty, n, e, crv, x, y };
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
}

function decodeObject(base64url: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(base64url, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
