/** Who is calling: an administrator, a user with a token, or nobody. */

import type { AuthProvider, TokenVerifier } from "./auth_providers.ts";
import type { Door } from "./doors.ts";
import { BadAdminKeyError, HttpError } from "./errors.ts";
import { impersonatedIdentity } from "./identity.ts";
import type { UserIdentity } from "./runtime_types.ts";
import { ADMIN_KEY } from "./versions.ts";

export type Caller =
  | { readonly kind: "admin"; readonly identity: UserIdentity | null }
  | { readonly kind: "user"; readonly identity: UserIdentity }
  | { readonly kind: "anonymous"; readonly identity: null };

export const ANONYMOUS: Caller = { kind: "anonymous", identity: null };

/** Finds out who is behind headers and tokens, with the providers of the running app. */
export class Authenticator {
  readonly #providers: () => readonly AuthProvider[];
  #tokens: Promise<TokenVerifier> | undefined;

  constructor(providers: () => readonly AuthProvider[]) {
    this.#providers = providers;
  }

  /** Reads an `Authorization` header; throws `HttpError` 401 for one that is refused. */
  async callerOfHeader(header: string | undefined, door: Door): Promise<Caller> {
    if (header === undefined) return ANONYMOUS;
    const [scheme, credentials] = splitOnce(header, " ");
    switch (scheme.toLowerCase()) {
      case "convex":
        return adminOfHeader(credentials, door);
      case "bearer":
        return await this.callerOfToken(credentials.trim());
      default:
        throw new HttpError(401, "InvalidAuthHeader", `Unsupported authorization scheme: ${scheme}`);
    }
  }

  /** The caller behind a JWT. */
  async callerOfToken(token: string): Promise<Caller> {
    // Loaded with the first token: most apps never see one, and the backend starts faster without what verifies it.
    this.#tokens ??= import("./auth_providers.ts").then(({ TokenVerifier }) => new TokenVerifier());
    return { kind: "user", identity: await (await this.#tokens).identityOf(token, this.#providers()) };
  }
}

function adminOfHeader(credentials: string, door: Door): Caller {
  const [key, identity] = splitOnce(credentials, ":");
  return adminCaller(key, identity === "" ? undefined : decodeJson(Buffer.from(identity, "base64")), door);
}

/** The caller behind an admin key, acting as `impersonating` where given. */
export function adminCaller(key: string, impersonating: unknown, door: Door): Caller {
  checkAdminKey(key, door);
  return {
    kind: "admin",
    identity: impersonating === undefined || impersonating === null ? null : impersonatedIdentity(impersonating),
  };
}

export function checkAdminKey(key: unknown, door: Door): void {
  if (!door.admin || key !== ADMIN_KEY) throw new BadAdminKeyError();
}

/** Refuses an `Authorization` header that does not carry the admin key. */
export function requireAdmin(header: string | undefined, door: Door): void {
  const [scheme, credentials] = splitOnce(header ?? "", " ");
  if (scheme.toLowerCase() !== "convex") throw new BadAdminKeyError();
  adminOfHeader(credentials, door);
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
