/**
 * Tokens, checked against the providers of `auth.config`.
 * Order and wording: get-convex/convex-backend crates/authentication/src/lib.rs, crates/common/src/auth.rs
 */

import { HttpError } from "./errors.ts";
import type { UserIdentity } from "./runtime_types.ts";
import { identityOfCustomToken, identityOfIdToken } from "./identity.ts";
import {
  isSignedBy,
  parseKeySet,
  parseToken,
  type Claims,
  type Jwk,
  type ParsedToken,
  type SigningAlgorithm,
} from "./jwt.ts";

export type AuthProvider =
  | { readonly type?: undefined; readonly domain: string; readonly applicationID: string }
  | {
      readonly type: "customJwt";
      readonly issuer: string;
      readonly jwks: string;
      readonly algorithm: SigningAlgorithm;
      readonly applicationID?: string | null;
    };

type OidcProvider = Extract<AuthProvider, { type?: undefined }>;
type CustomProvider = Extract<AuthProvider, { type: "customJwt" }>;

const CLOCK_SKEW_SECONDS = 5;
const CACHE_MS = 10_000;
const FETCH_LIMIT_MS = 10_000;
const JWKS_MEDIA_TYPES = new Set(["application/json", "application/jwk-set+json"]);

const MISSING_ISSUER =
  "Missing issuer claim ('iss') in JWT payload. The JWT must include an 'iss' claim that matches one of your configured auth providers.";

/** Verifies tokens; remembers for a moment what providers publish. */
export class TokenVerifier {
  readonly #published = new Map<string, { readonly text: string; readonly expiresMs: number }>();

  /** The identity behind a token; throws `HttpError` 401 for one that is refused. */
  async identityOf(text: string, providers: readonly AuthProvider[]): Promise<UserIdentity> {
    const token = parseToken(text);
    if (!token) {
      throw unauthenticated(
        "InvalidAuthHeader",
        "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts separated by dots.",
      );
    }
    const { iss } = token.claims;
    if (typeof iss !== "string") throw unauthenticated("InvalidAuthHeader", MISSING_ISSUER);
    const provider = providers.find((candidate) => issues(candidate, iss, audiences(token.claims)));
    if (!provider) throw unauthenticated("NoAuthProvider", noProviderText(providers));
    return provider.type === "customJwt" ? await this.#custom(token, provider) : await this.#oidc(token, provider, iss);
  }

  async #oidc(token: ParsedToken, { applicationID }: OidcProvider, issuer: string): Promise<UserIdentity> {
    const keys = await this.#discoveredKeys(issuer);
    const signed = await isSignedBy(token, keys, ["RS256", "EdDSA"]);
    const { sub, exp } = token.claims;
    const valid =
      typeof sub === "string" &&
      typeof exp === "number" &&
      exp > nowSeconds() &&
      audiences(token.claims).includes(applicationID);
    if (!signed || !valid) {
      throw unauthenticated(
        "Unauthenticated",
        "Could not verify OIDC token claim. Check that the token signature is valid and the token hasn't expired.",
      );
    }
    return identityOfIdToken(token.claims);
  }

  async #discoveredKeys(issuer: string): Promise<Jwk[]> {
    const failed = (detail: string): HttpError =>
      new HttpError(400, "AuthProviderDiscoveryFailed", `Auth provider discovery of ${issuer} failed${detail}`);
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const published = await this.#fetch(url, async (response) =>
      failed(`: ${response.status} ${response.statusText} ${await response.text()}`),
    ).catch((error: unknown) => {
      throw error instanceof HttpError ? error : failed("");
    });
    const configuration = jsonObject(published);
    const { jwks_uri } = configuration ?? {};
    if (configuration?.["issuer"] !== issuer || typeof jwks_uri !== "string") throw failed("");
    const keys = parseKeySet(await this.#fetch(jwks_uri, async () => failed("")).catch(() => ""));
    if (!keys) throw failed("");
    return keys;
  }

  async #custom(token: ParsedToken, provider: CustomProvider): Promise<UserIdentity> {
    const keys = parseKeySet(await this.#keySetText(provider.jwks));
    if (!keys) {
      throw unauthenticated(
        "InvalidAuthHeader",
        `Invalid JWKS response body from '${provider.jwks}'. The response is not valid JSON or doesn't match the expected JWKS format.`,
      );
    }
    if (token.keyId === null) {
      throw unauthenticated("InvalidAuthHeader", "Could not decode token. JWT may be missing a 'kid' (key ID) header.");
    }
    if (!(await isSignedBy(token, keys, [provider.algorithm]))) {
      throw unauthenticated(
        "InvalidAuthHeader",
        `Could not decode token. The JWT's 'kid' (key ID) header is '${token.keyId}', does this key match any key in the provider's JWKS?`,
      );
    }
    checkTimes(token.claims);
    if (typeof token.claims["sub"] !== "string") throw unauthenticated("InvalidAuthHeader", "Missing subject");
    if (typeof token.claims["exp"] !== "number") throw unauthenticated("InvalidAuthHeader", "Missing expiry");
    return identityOfCustomToken(token.claims);
  }

  async #keySetText(uri: string): Promise<string> {
    if (uri.startsWith("data:")) {
      const invalid = unauthenticated(
        "InvalidAuthHeader",
        "Invalid JWKS data URL. Check that the data URL is properly formatted and contains valid base64-encoded JSON.",
      );
      return await (await fetch(uri).catch(() => Promise.reject(invalid))).text();
    }
    const unreachable = (reason: string): HttpError =>
      unauthenticated(
        "InvalidAuthHeader",
        `Could not fetch JWKS from URL '${uri}': ${reason}. Check that the URL is correct and accessible.`,
      );
    const refused = async (response: Response): Promise<HttpError> =>
      unreachable(`HTTP ${response.status} ${response.statusText}`);
    return await this.#fetch(uri, refused, (response) => checkMediaType(response, uri)).catch((error: unknown) => {
      throw error instanceof HttpError ? error : unreachable((error as Error).message);
    });
  }

  async #fetch(
    url: string,
    refused: (response: Response) => Promise<HttpError>,
    check: (response: Response) => void = () => {},
  ): Promise<string> {
    const known = this.#published.get(url);
    if (known && known.expiresMs > Date.now()) return known.text;
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(FETCH_LIMIT_MS),
    });
    if (response.status !== 200) throw await refused(response);
    check(response);
    const text = await response.text();
    this.#published.set(url, { text, expiresMs: Date.now() + CACHE_MS });
    return text;
  }
}

function issues(provider: AuthProvider, issuer: string, tokenAudiences: readonly string[]): boolean {
  const { applicationID } = provider;
  if (typeof applicationID === "string" && !tokenAudiences.includes(applicationID)) return false;
  const own = provider.type === "customJwt" ? provider.issuer : provider.domain;
  return normalized(own) === normalized(issuer);
}

// Providers leave the scheme out, and differ in the trailing slash.
function normalized(issuer: string): string {
  return (/^\w+:\/\//.test(issuer) ? issuer : `https://${issuer}`).replace(/\/+$/, "");
}

function audiences(claims: Claims): string[] {
  const { aud } = claims;
  if (Array.isArray(aud)) return aud.map(String);
  return aud === undefined ? [] : [String(aud)];
}

function checkTimes({ exp, nbf, iat }: Claims): void {
  const now = nowSeconds();
  const invalid = (reason: string): HttpError =>
    unauthenticated("InvalidAuthHeader", `Could not validate token: ${reason}`);
  if (typeof exp === "number" && exp + CLOCK_SKEW_SECONDS <= now) throw invalid("Token expired");
  if (typeof nbf === "number" && nbf - CLOCK_SKEW_SECONDS > now) throw invalid("Token not valid yet");
  if (typeof iat === "number" && iat - CLOCK_SKEW_SECONDS > now) throw invalid("Token issued in the future");
}

function checkMediaType(response: Response, uri: string): void {
  const contentType = response.headers.get("content-type") ?? "unknown";
  if (JWKS_MEDIA_TYPES.has((contentType.split(";", 1)[0] ?? "").trim().toLowerCase())) return;
  throw unauthenticated(
    "InvalidAuthHeader",
    `Invalid Content-Type '${contentType}' when fetching JWKS from '${uri}'. Expected 'application/json' or 'application/jwk-set+json'.`,
  );
}

function noProviderText(providers: readonly AuthProvider[]): string {
  if (providers.length === 0) {
    return "No auth provider found matching the given token (no providers configured). Check convex/auth.config.ts.";
  }
  const list = providers.map((provider) =>
    provider.type === "customJwt"
      ? `CustomJWT(issuer=${provider.issuer}, app_id=${provider.applicationID ?? "none"})`
      : `OIDC(domain=${provider.domain}, app_id=${provider.applicationID})`,
  );
  return `No auth provider found matching the given token. Check that your JWT's issuer and audience match one of your configured providers: [${list.join(", ")}]`;
}

function jsonObject(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}

function nowSeconds(): number {
  return Date.now() / 1000;
}

function unauthenticated(code: string, message: string): HttpError {
  return new HttpError(401, code, message);
}
