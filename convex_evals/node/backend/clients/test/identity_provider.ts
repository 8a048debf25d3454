/** Somebody who issues tokens: what `auth.config.ts` of the app `accounts` trusts. */

import { generateKeyPairSync, sign } from "node:crypto";

export interface IdentityProvider {
  /** For the app's environment variable AUTH_JWKS. */
  readonly jwks: string;
  token(claims: Readonly<Record<string, unknown>>): string;
}

/** A provider with a key of its own. Tokens live for an hour unless the claims say otherwise. */
export function identityProvider(): IdentityProvider {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "key", use: "sig", alg: "ES256" };
  const jwks = `data:text/plain;charset=utf-8;base64,${Buffer.from(JSON.stringify({ keys: [key] })).toString("base64")}`;
  const token = (claims: Readonly<Record<string, unknown>>): string => {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: "https://id.example.com", aud: "accounts", iat: now, exp: now + 3600, ...claims };
    const text = `${encode({ alg: "ES256", typ: "JWT", kid: "key" })}.${encode(all)}`;
    return `${text}.${sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  return { jwks, token };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
