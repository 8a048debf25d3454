/** Who is calling: tokens, impersonation, and what functions learn of it. */

import { generateKeyPairSync, sign } from "node:crypto";
import { moduleFile, type Expected, type Files, type Row } from "../harness.ts";

const TOKENS = "get-convex/convex-backend crates/authentication/src/lib.rs";
const IDENTITY = "get-convex/convex-backend crates/keybroker/src/broker.rs";
const CUSTOM = "https://docs.convex.dev/auth/advanced/custom-jwt";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const keySet = JSON.stringify({
  keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" }],
});
const ISSUER = "https://issuer.example";

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function token(claims: object, { key = privateKey, header = {} } = {}): string {
  const signed = `${part({ alg: "ES256", kid: "k", ...header })}.${part({ iss: ISSUER, sub: "u", aud: "app", exp: 4_000_000_000, ...claims })}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

const WHOAMI = moduleFile(
  "m",
  "export const who = query({ args: {}, handler: async (ctx) => await ctx.auth.getUserIdentity() });\nexport const act = action({ args: {}, handler: async (ctx): Promise<any> => [await ctx.auth.getUserIdentity(), await ctx.runQuery(api.m.who, {})] });",
);

function authConfig(...providers: object[]): Files {
  return { ...WHOAMI, "convex/auth.config.ts": `export default { providers: ${JSON.stringify(providers)} };` };
}

const provider = {
  type: "customJwt",
  issuer: ISSUER,
  applicationID: "app",
  algorithm: "ES256",
  jwks: `data:application/json,${encodeURIComponent(keySet)}`,
};
const FILES = authConfig(provider);

function row(id: string, rule: string, citation: string, text: string, expected: Expected, files: Files = FILES): Row {
  return {
    id: `auth/${id}`,
    rule,
    citation,
    files,
    steps: [{ call: "query", path: "m:who", as: { token: text } }],
    expected,
  };
}

const base = { subject: "u", issuer: ISSUER, tokenIdentifier: `${ISSUER}|u` };

export const rows: readonly Row[] = [
  row("token", "A token that a provider has signed is an identity.", CUSTOM, token({}), { value: base }),
  row(
    "claims",
    "Custom claims keep their names; nested ones are joined by dots.",
    IDENTITY,
    token({ email: "a@b", given_name: "G", org: { id: 1, tags: ["x"] } }),
    { value: { ...base, email: "a@b", given_name: "G", "org.id": 1, "org.tags": ["x"] } },
  ),
  row("audiences", "One of several audiences is enough.", TOKENS, token({ aud: ["other", "app"] }), { value: base }),
  row(
    "any-audience",
    "Without an applicationID any audience is accepted.",
    `${CUSTOM}#warning-omitting-applicationid-is-often-insecure`,
    token({ aud: "whatever" }),
    { value: base },
    authConfig({ ...provider, applicationID: undefined }),
  ),
  row(
    "issuer-slash",
    "A slash at the end of the issuer makes no difference.",
    TOKENS,
    token({}),
    { value: base },
    authConfig({ ...provider, issuer: `${ISSUER}/` }),
  ),
  row(
    "issuer-scheme",
    "Neither does a missing scheme.",
    "get-convex/convex-backend crates/common/src/auth.rs",
    token({ iss: "issuer.example" }),
    { value: { subject: "u", issuer: "issuer.example", tokenIdentifier: "issuer.example|u" } },
  ),
  row(
    "no-config",
    "Without auth.config every token is refused.",
    TOKENS,
    token({}),
    {
      rejects:
        "No auth provider found matching the given token (no providers configured). Check convex/auth.config.ts.",
      code: "NoAuthProvider",
    },
    WHOAMI,
  ),
  row("wrong-audience", "A token for another application is refused.", TOKENS, token({ aud: "other" }), {
    rejects: `[CustomJWT(issuer=${ISSUER}, app_id=app)]`,
    code: "NoAuthProvider",
  }),
  row("wrong-issuer", "A token of another issuer is refused.", TOKENS, token({ iss: "https://elsewhere.example" }), {
    rejects: "No auth provider found matching the given token",
    code: "NoAuthProvider",
  }),
  row("wrong-key", "A token signed with another key is refused.", TOKENS, token({}, { key: stranger }), {
    rejects:
      "Could not decode token. The JWT's 'kid' (key ID) header is 'k', does this key match any key in the provider's JWKS?",
    code: "InvalidAuthHeader",
  }),
  row("no-kid", "A token has to name its key.", TOKENS, token({}, { header: { kid: undefined } }), {
    rejects: "Could not decode token. JWT may be missing a 'kid' (key ID) header.",
    code: "InvalidAuthHeader",
  }),
  row(
    "algorithm",
    "A token is signed with the algorithm of its provider.",
    TOKENS,
    token({}, { header: { alg: "none" } }),
    { rejects: "Could not decode token.", code: "InvalidAuthHeader" },
  ),
  row("expired", "An expired token is refused.", TOKENS, token({ exp: 1 }), {
    rejects: "Could not validate token",
    code: "InvalidAuthHeader",
  }),
  row("not-yet", "A token is not accepted before its time.", TOKENS, token({ nbf: 4_000_000_000 }), {
    rejects: "Could not validate token",
    code: "InvalidAuthHeader",
  }),
  row("no-subject", "A token has a subject.", IDENTITY, token({ sub: undefined }), {
    rejects: "Missing subject",
    code: "InvalidAuthHeader",
  }),
  row("no-issuer", "A token has an issuer.", TOKENS, token({ iss: undefined }), {
    rejects: "Missing issuer claim ('iss') in JWT payload.",
    code: "InvalidAuthHeader",
  }),
  row("garbage", "What is no token is refused.", TOKENS, "garbage", {
    rejects:
      "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts separated by dots.",
    code: "InvalidAuthHeader",
  }),
  {
    id: "auth/anonymous",
    rule: "Without a token there is no identity.",
    citation: "https://docs.convex.dev/auth/functions-auth",
    files: WHOAMI,
    steps: [{ call: "query", path: "m:who" }],
    expected: { value: null },
  },
  {
    id: "auth/inner",
    rule: "Actions and what they call have the same identity.",
    citation: "https://docs.convex.dev/auth/functions-auth",
    files: FILES,
    steps: [{ call: "action", path: "m:act", as: { token: token({}) } }],
    expected: { value: [base, base] },
  },
  {
    id: "auth/impersonated",
    rule: "The owner acts as any user.",
    citation: "npm convex/src/browser/http_client.ts",
    files: WHOAMI,
    steps: [{ call: "query", path: "m:who", as: { identity: { subject: "s", issuer: "https://i", name: "N" } } }],
    expected: { value: { subject: "s", issuer: "https://i", tokenIdentifier: "https://i|s", name: "N" } },
  },
  {
    id: "auth/admin",
    rule: "The owner as such is no user.",
    citation: "npm convex/src/browser/http_client.ts",
    files: WHOAMI,
    steps: [{ call: "query", path: "m:who", as: "admin" }],
    expected: { value: null },
  },
];
