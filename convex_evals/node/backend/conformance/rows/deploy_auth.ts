/** The configuration of authentication. */

import type { Files, Row } from "../harness.ts";

const AUTH = "get-convex/convex-backend crates/isolate/src/environment/auth_config.rs";
const CLIENT = "get-convex/convex-backend crates/isolate/src/client.rs";
const URLS = "get-convex/convex-backend crates/common/src/auth.rs";
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
      rejects:
        "The pushed auth config is invalid: auth config file must include a list of provider credentials: missing field `providers`",
      code: "InvalidAuthConfig",
    },
  },
  {
    id: "deploy/auth-config-no-default",
    rule: "auth.config has a default export.",
    citation: AUTH,
    files: { "convex/auth.config.ts": "export const x = 1;" },
    expected: { rejects: "auth config file is missing default export.", code: "InvalidAuthConfig" },
  },
  {
    id: "deploy/auth-config-spelling",
    rule: "It is spelled applicationID.",
    citation: AUTH,
    files: auth('{ domain: "https://id.example.com", applicationId: "convex" } as any'),
    expected: {
      rejects:
        "Provider at index 0 must have applicationID property spelled lowercase 'application', capital I, capital D.",
      code: "InvalidAuthConfig",
    },
  },
  {
    id: "deploy/auth-config-custom-domain",
    rule: "A custom JWT provider has an issuer, not a domain.",
    citation: AUTH,
    files: auth('{ type: "customJwt", domain: "https://a.example.com", jwks: "x", algorithm: "RS256" } as any'),
    expected: {
      rejects: "Provider at index 0 is a customJwt so cannot have a 'domain' specified",
      code: "InvalidAuthConfig",
    },
  },
];

const evaluated: readonly Row[] = [
  {
    id: "deploy/auth-config-throws",
    rule: "auth.config runs to its end.",
    citation: CLIENT,
    files: { "convex/auth.config.ts": 'throw new Error("boom"); export default { providers: [] };' },
    expected: { rejects: "The pushed auth config is invalid: Uncaught Error: boom", code: "InvalidAuthConfig" },
  },
  {
    id: "deploy/auth-config-env-used",
    rule: "A variable that is not set is what is told, whatever comes of it.",
    citation: AUTH,
    files: auth('{ domain: process.env.ISSUER!.trim(), applicationID: "convex" }'),
    expected: {
      rejects: "Environment variable ISSUER is used in auth config file but its value was not set",
      code: "AuthConfigMissingEnvironmentVariable",
    },
  },
  {
    id: "deploy/auth-config-algorithm",
    rule: "A custom JWT provider signs by RS256 or ES256.",
    citation: URLS,
    files: auth('{ type: "customJwt", issuer: "https://a.example.com", jwks: "x", algorithm: "HS256" } as any'),
    expected: { rejects: "untagged enum SerializedAuthInfo", code: "InvalidAuthConfig" },
  },
  {
    id: "deploy/auth-config-shared-issuer",
    rule: "An issuer that many applications share is told apart by an applicationID.",
    citation: AUTH,
    files: auth('{ type: "customJwt", issuer: "https://api.workos.com/", jwks: "x", algorithm: "RS256" }'),
    expected: {
      rejects:
        "The pushed auth config is invalid: This auth configuration appears potentially insecure: Provider at index 0 has an issuer that is shared among many applications",
      code: "InvalidAuthConfig",
    },
  },
];

const oidc = (domain: string): string => `{ domain: ${JSON.stringify(domain)}, applicationID: "convex" }`;
const custom = (issuer: string): string =>
  `{ type: "customJwt", issuer: ${JSON.stringify(issuer)}, jwks: "https://a.example.com/jwks.json", algorithm: "RS256" }`;

/** A row of one provider's URL that is refused. */
function badUrl(id: string, rule: string, url: string, reason: string, provider = oidc): Row {
  return {
    id: `deploy/auth-url-${id}`,
    rule,
    citation: URLS,
    files: auth(provider(url)),
    expected: {
      rejects: `The pushed auth config is invalid: Invalid provider domain URL "${url}": ${reason}`,
      code: "InvalidAuthConfig",
    },
  };
}

const NO_URL = "Does not look like a URL (must have a scheme or end with a top-level domain)";
const GOOD = [
  "example.com",
  "id.example.co.uk/realms/x",
  "EXAMPLE.DEV",
  "localhost",
  "localhost:3210",
  "http://localhost:3210",
  "http://127.0.0.1:3210",
  "https://id.example.com/",
  "https://no-top-level-domain",
];

const urls: readonly Row[] = [
  badUrl("placeholder", "A domain is no placeholder.", "YOUR_CLERK_ISSUER_URL", NO_URL),
  badUrl("issuer-placeholder", "Nor is an issuer.", "YOUR_ISSUER", NO_URL, custom),
  badUrl("empty", "It is not empty.", "", "empty host"),
  badUrl("issuer-empty", "Nor is an issuer.", "", "empty host", custom),
  badUrl("scheme", "Its scheme is http or https.", "ftp://x.y", "scheme should be http or https"),
  badUrl("issuer-scheme", "So is that of an issuer.", "file://x.com", "scheme should be http or https", custom),
  badUrl("quotes", "It is not quoted twice.", '"https://id.example.com"', 'starts with a double quote (")'),
  badUrl("spaces", "It has no spaces.", "id example.com", "invalid international domain name"),
  badUrl("urn", "A name is no URL.", "urn:example:issuer", "invalid port number", custom),
  badUrl("tld", "Without a scheme it ends with a top-level domain that exists.", "idont.looklikeadomain", NO_URL),
  badUrl("ip", "An address needs a scheme.", "10.0.0.1", NO_URL),
  badUrl("port", "Its port is a number that ports have.", "https://id.example.com:99999", "invalid port number"),
  {
    id: "deploy/auth-url-variable",
    rule: "So it is with a variable of the environment.",
    citation: URLS,
    files: auth('{ domain: process.env.ISSUER!, applicationID: "convex" }'),
    options: { env: { ISSUER: "changeme" } },
    expected: { rejects: `Invalid provider domain URL "changeme": ${NO_URL}`, code: "InvalidAuthConfig" },
  },
  {
    id: "deploy/auth-url-second",
    rule: "So it is with each provider.",
    citation: URLS,
    files: auth(`${oidc("example.com")}, ${custom("changeme")}`),
    expected: { rejects: `Invalid provider domain URL "changeme": ${NO_URL}`, code: "InvalidAuthConfig" },
  },
  {
    id: "deploy/auth-url-good",
    rule: "A scheme may be missing where a top-level domain is there, and anything may follow one.",
    citation: URLS,
    files: auth(GOOD.flatMap((url) => [oidc(url), custom(url)]).join()),
    expected: { accepts: true },
  },
];

export const rows: readonly Row[] = [...authConfig, ...evaluated, ...urls];
