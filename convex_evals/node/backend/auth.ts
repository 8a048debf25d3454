/** Who is calling: an administrator, a user with a token, or nobody. */

import { BadAdminKeyError, HttpError } from "./errors.ts";
import type { UserIdentity } from "./app/runtime_types.ts";
import { ADMIN_KEY } from "./versions.ts";

export type Caller =
  | { readonly kind: "admin"; readonly identity: UserIdentity | null }
  | { readonly kind: "user"; readonly identity: UserIdentity }
  | { readonly kind: "anonymous"; readonly identity: null };

export const ANONYMOUS: Caller = { kind: "anonymous", identity: null };

/** Reads an `Authorization` header; throws `HttpError` 401 for one that is refused. */
export function callerOfHeader(header: string | undefined): Caller {
  if (header === undefined) return ANONYMOUS;
  const [scheme, credentials] = splitOnce(header, " ");
  switch (scheme.toLowerCase()) {
    case "convex": {
      const [key, identity] = splitOnce(credentials, ":");
      return adminCaller(key, identity === "" ? undefined : decodeJson(Buffer.from(identity, "base64")));
    }
    case "bearer":
      return userCaller(credentials);
    default:
      throw new HttpError(401, "InvalidAuthHeader", `Unsupported authorization scheme: ${scheme}`);
  }
}

/** The caller behind an admin key, acting as `impersonating` where given. */
export function adminCaller(key: string, impersonating: unknown): Caller {
  checkAdminKey(key);
  return { kind: "admin", identity: impersonating === undefined || impersonating === null ? null : impersonatedIdentity(impersonating) };
}

export function checkAdminKey(key: unknown): void {
  if (key !== ADMIN_KEY) throw new BadAdminKeyError();
}

/** Whether an `Authorization` header carries the admin key. */
export function requireAdmin(header: string | undefined): void {
  const caller = callerOfHeader(header);
  if (caller.kind !== "admin") throw new BadAdminKeyError();
}

/** The caller behind a JWT. Its signature is not verified yet; its form and expiry are. */
export function userCaller(token: string): Caller {
  const [, payload, ...rest] = token.split(".");
  if (payload === undefined || rest.length !== 1) throw invalidToken("Token is not a JWT");
  const claims = decodeJson(Buffer.from(payload, "base64url"));
  if (typeof claims !== "object" || claims === null) throw invalidToken("Token has no claims");
  const { sub, iss, exp, ...others } = claims as Record<string, unknown>;
  if (typeof sub !== "string" || typeof iss !== "string") throw invalidToken("Token lacks `sub` or `iss`");
  if (typeof exp === "number" && exp * 1000 < Date.now()) throw invalidToken("Token expired");
  return { kind: "user", identity: identityOfClaims(sub, iss, others) };
}

function invalidToken(reason: string): HttpError {
  return new HttpError(401, "InvalidAuthHeader", `Could not parse as id token: ${reason}`);
}

const ATTRIBUTE_OF_CLAIM: Readonly<Record<string, string>> = {
  given_name: "givenName",
  family_name: "familyName",
  preferred_username: "preferredUsername",
  profile: "profileUrl",
  picture: "pictureUrl",
  email_verified: "emailVerified",
  birthdate: "birthday",
  zoneinfo: "timezone",
  locale: "language",
  phone_number: "phoneNumber",
  phone_number_verified: "phoneNumberVerified",
  updated_at: "updatedAt",
};

const REGISTERED_CLAIMS = new Set(["aud", "iat", "nbf", "jti"]);

function identityOfClaims(subject: string, issuer: string, claims: Record<string, unknown>): UserIdentity {
  const identity: UserIdentity = { tokenIdentifier: `${issuer}|${subject}`, issuer, subject };
  for (const [claim, value] of Object.entries(claims)) {
    if (REGISTERED_CLAIMS.has(claim)) continue;
    identity[ATTRIBUTE_OF_CLAIM[claim] ?? claim] = value as string;
  }
  return identity;
}

function impersonatedIdentity(attributes: unknown): UserIdentity {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) {
    throw new HttpError(400, "InvalidIdentity", "The identity to act as must be an object");
  }
  const { subject, issuer, tokenIdentifier, ...rest } = attributes as Record<string, string | undefined>;
  const token = tokenIdentifier ?? `${issuer}|${subject}`;
  const [tokenIssuer, tokenSubject] = splitOnce(token, "|");
  return { ...rest, subject: subject ?? tokenSubject, issuer: issuer ?? tokenIssuer, tokenIdentifier: token };
}

function decodeJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new HttpError(401, "InvalidAuthHeader", "The Authorization header does not hold valid JSON");
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}
