/** What `ctx.auth.getUserIdentity()` returns: get-convex/convex-backend crates/keybroker/src/broker.rs */

import { HttpError } from "./errors.ts";
import type { JsonValue, UserIdentity } from "./runtime_types.ts";
import type { Claims } from "./jwt.ts";

const ATTRIBUTE_OF_CLAIM: Readonly<Record<string, string>> = {
  given_name: "givenName",
  family_name: "familyName",
  preferred_username: "preferredUsername",
  profile: "profileUrl",
  picture: "pictureUrl",
  website: "websiteUrl",
  email_verified: "emailVerified",
  birthdate: "birthday",
  zoneinfo: "timezone",
  locale: "language",
  phone_number: "phoneNumber",
  phone_number_verified: "phoneNumberVerified",
};

// Claims about the token, and those that change with every one of them.
const TOKEN_CLAIMS = new Set([
  "iss",
  "sub",
  "aud",
  "exp",
  "iat",
  "nbf",
  "jti",
  "fva",
  "auth_time",
  "nonce",
  "acr",
  "amr",
  "azp",
  "at_hash",
  "c_hash",
]);
const REGISTERED_CLAIMS = new Set(["iss", "sub", "aud", "exp", "iat", "nbf", "jti", "fva"]);

/** The identity behind an OpenID Connect token: standard claims have names of their own. */
export function identityOfIdToken(claims: Claims): UserIdentity {
  const identity = baseIdentity(String(claims["iss"]), String(claims["sub"]));
  for (const [claim, value] of Object.entries(claims)) {
    if (TOKEN_CLAIMS.has(claim)) continue;
    if (claim === "updated_at") identity["updatedAt"] = instant(value);
    else if (claim === "address") identity["address"] = (value as { formatted?: string } | null)?.formatted;
    else identity[ATTRIBUTE_OF_CLAIM[claim] ?? claim] = value as JsonValue;
  }
  return identity;
}

/** The identity behind a custom JWT: claims keep their names, nested ones become "outer.inner". */
export function identityOfCustomToken(claims: Claims): UserIdentity {
  const rest = Object.entries(claims).filter(([claim]) => !REGISTERED_CLAIMS.has(claim));
  return Object.assign(baseIdentity(String(claims["iss"]), String(claims["sub"])), flattened(Object.fromEntries(rest)));
}

/** The identity that an administrator acts as. */
export function impersonatedIdentity(attributes: unknown): UserIdentity {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) {
    throw new HttpError(400, "InvalidIdentity", "The identity to act as must be an object");
  }
  const { subject, issuer, tokenIdentifier, ...rest } = attributes as Record<string, string | undefined>;
  const token = tokenIdentifier ?? `${issuer}|${subject}`;
  const at = token.indexOf("|");
  const [tokenIssuer, tokenSubject] = at < 0 ? [token, ""] : [token.slice(0, at), token.slice(at + 1)];
  return { ...rest, subject: subject ?? tokenSubject, issuer: issuer ?? tokenIssuer, tokenIdentifier: token };
}

function baseIdentity(issuer: string, subject: string): UserIdentity {
  return { tokenIdentifier: `${issuer}|${subject}`, issuer, subject };
}

function flattened(claims: Record<string, unknown>): Record<string, JsonValue> {
  const flat: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(claims)) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isObject) flat[name] = value as JsonValue;
    else {
      for (const [inner, innerValue] of Object.entries(flattened(value as Record<string, unknown>))) {
        flat[`${name}.${inner}`] = innerValue;
      }
    }
  }
  return flat;
}

function instant(value: unknown): string {
  return typeof value === "number" ? new Date(value * 1000).toISOString().replace(/\.000Z$/, "+00:00") : String(value);
}
