/** The configuration of authentication. */

import type { Files, Row } from "../harness.ts";

const AUTH = "get-convex/convex-backend crates/isolate/src/environment/auth_config.rs";
const auth = (providers: string): Files => ({
  "convex/auth.config.ts": `export default { providers: [${providers}] };`,
});

const authConfig: readonly Row[] = [
  {
    id: "deploy/auth-config",
    rule: "auth.config lists providers, OIDC and custom JWT.",
    citation: "https://docs.convex.dev/auth/advanced/custom-jwt",
    files: auth(
      '{ domain: "https://id.example.com", applicationID: "convex" }, { type: "customJwt", issuer: "https://a.example.com", jwks: "https://a.example.com/jwks.json", algorithm: "ES256" }',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/auth-config-env",
    rule: "Environment variables of auth.config are set.",
    citation: AUTH,
    files: auth('{ domain: process.env.ISSUER!, applicationID: "convex" }'),
    expected: {
      rejects: "Environment variable ISSUER is used in auth config file but its value was not set",
      code: "AuthConfigMissingEnvironmentVariable",
    },
  },
  {
    id: "deploy/auth-config-env-set",
    rule: "auth.config may read environment variables.",
    citation: AUTH,
    files: auth('{ domain: process.env.ISSUER!, applicationID: "convex" }'),
    options: { env: { ISSUER: "https://id.example.com" } },
    expected: { accepts: true },
  },
  {
    id: "deploy/auth-config-no-providers",
    rule: "auth.config has a list of providers.",
    citation: AUTH,
    files: { "convex/auth.config.ts": "export default {};" },
    expected: {
      rejects: "auth config file must include a list of provider credentials: missing field `providers`",
      code: "AuthConfigNotMatchingSchemaError",
    },
  },
  {
    id: "deploy/auth-config-no-default",
    rule: "auth.config has a default export.",
    citation: AUTH,
    files: { "convex/auth.config.ts": "export const x = 1;" },
    expected: { rejects: "auth config file is missing default export.", code: "AuthConfigMissingExportError" },
  },
  {
    id: "deploy/auth-config-spelling",
    rule: "It is spelled applicationID.",
    citation: AUTH,
    files: auth('{ domain: "https://id.example.com", applicationId: "convex" } as any'),
    expected: {
      rejects:
        "Provider at index 0 must have applicationID property spelled lowercase 'application', capital I, capital D.",
      code: "AuthConfigNotMatchingSchemaError",
    },
  },
  {
    id: "deploy/auth-config-custom-domain",
    rule: "A custom JWT provider has an issuer, not a domain.",
    citation: AUTH,
    files: auth('{ type: "customJwt", domain: "https://a.example.com", jwks: "x", algorithm: "RS256" } as any'),
    expected: {
      rejects: "Provider at index 0 is a customJwt so cannot have a 'domain' specified",
      code: "AuthConfigNotMatchingSchemaError",
    },
  },
];

export const rows: readonly Row[] = [...authConfig];
