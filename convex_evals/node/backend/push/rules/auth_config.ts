import { InvalidAuthConfig } from "../../errors.ts";
import { issuerUrlProblem } from "./issuer_url.ts";
import type { PushRule } from "./rule.ts";

type Fields = Readonly<Record<string, unknown>>;

export const authConfigRule: PushRule = (push) => {
  checkAuthConfig(push.app.definition.authConfig);
};

/** get-convex/convex-backend crates/isolate/src/environment/auth_config.rs, crates/common/src/auth.rs */
export function checkAuthConfig(config: unknown): void {
  // No module at all; a module without default export evaluates to undefined.
  if (config === null) return;
  if (typeof config !== "object" || Array.isArray(config)) {
    throw notMatching("invalid type, expected struct SerializedAuthConfig");
  }
  const { providers } = config as Fields;
  if (providers === undefined) throw notMatching("missing field `providers`");
  if (!Array.isArray(providers)) throw notMatching("invalid type, expected a sequence");
  const listed = providers.map((provider): Fields => {
    return typeof provider === "object" && provider !== null ? (provider as Fields) : {};
  });
  listed.forEach(checkConfusions);
  listed.forEach(checkFields);
  listed.forEach(checkIssuer);
}

function isCustom({ type }: Fields): boolean {
  return type === "customJwt";
}

function checkConfusions(provider: Fields, index: number): void {
  const type = typeof provider["type"] === "string" ? provider["type"] : "unknown";
  if ("applicationId" in provider || "applicationid" in provider) {
    throw notMatching(
      `Provider at index ${index} must have applicationID property spelled lowercase 'application', capital I, capital D.`,
    );
  }
  if (!["customJwt", "oidc", "unknown"].includes(type)) {
    throw notMatching(`Provider at index ${index} has unexpected 'type' value '${type}'`);
  }
  if (isCustom(provider) && "domain" in provider) {
    throw notMatching(`Provider at index ${index} is a customJwt so cannot have a 'domain' specified`);
  }
  if (!isCustom(provider) && "issuer" in provider) {
    throw notMatching(`Provider at index ${index} is oidc so cannot have an 'issuer' specified.`);
  }
  if (!("applicationID" in provider) && SHARED_ISSUERS.has(provider["issuer"])) {
    throw new InvalidAuthConfig(
      `This auth configuration appears potentially insecure: Provider at index ${index} has an issuer that is shared among many applications, so must to specify an ApplicationID to check against an \`aud\` field of a JWT.`,
    );
  }
}

const SHARED_ISSUERS: ReadonlySet<unknown> = new Set(["https://api.workos.com", "https://api.workos.com/"]);

function checkFields(provider: Fields): void {
  const required = isCustom(provider) ? ["issuer", "jwks", "algorithm"] : ["domain", "applicationID"];
  const known = !isCustom(provider) || ["RS256", "ES256"].includes(String(provider["algorithm"]));
  if (!known || required.some((name) => typeof provider[name] !== "string")) {
    throw notMatching("data did not match any variant of untagged enum SerializedAuthInfo");
  }
}

function checkIssuer(provider: Fields): void {
  const problem = issuerUrlProblem(String(provider[isCustom(provider) ? "issuer" : "domain"]));
  if (problem !== null) throw new InvalidAuthConfig(problem);
}

function notMatching(reason: string): InvalidAuthConfig {
  return new InvalidAuthConfig(`auth config file must include a list of provider credentials: ${reason}`);
}
