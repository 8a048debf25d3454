import { DeployError } from "../../errors.ts";
import type { PushRule } from "./rule.ts";

type Fields = Readonly<Record<string, unknown>>;

/** get-convex/convex-backend crates/isolate/src/environment/auth_config.rs */
export const authConfigRule: PushRule = (push) => {
  const config = push.app.definition.authConfig;
  // No module at all; a module without default export evaluates to undefined.
  if (config === null) return;
  if (typeof config !== "object" || Array.isArray(config)) {
    throw notMatching("invalid type, expected struct SerializedAuthConfig");
  }
  const { providers } = config as Fields;
  if (providers === undefined) throw notMatching("missing field `providers`");
  if (!Array.isArray(providers)) throw notMatching("invalid type, expected a sequence");
  providers.forEach(checkProvider);
};

function checkProvider(provider: unknown, index: number): void {
  const fields = (typeof provider === "object" && provider !== null ? provider : {}) as Fields;
  const type = typeof fields["type"] === "string" ? fields["type"] : "unknown";
  const isCustom = type === "customJwt";
  if ("applicationId" in fields || "applicationid" in fields) {
    throw notMatching(
      `Provider at index ${index} must have applicationID property spelled lowercase 'application', capital I, capital D.`,
    );
  }
  if (!["customJwt", "oidc", "unknown"].includes(type)) {
    throw notMatching(`Provider at index ${index} has unexpected 'type' value '${type}'`);
  }
  if (isCustom && "domain" in fields) {
    throw notMatching(`Provider at index ${index} is a customJwt so cannot have a 'domain' specified`);
  }
  if (!isCustom && "issuer" in fields) {
    throw notMatching(`Provider at index ${index} is oidc so cannot have an 'issuer' specified.`);
  }
  const required = isCustom ? ["issuer", "jwks", "algorithm"] : ["domain", "applicationID"];
  const known = !isCustom || ["RS256", "ES256"].includes(String(fields["algorithm"]));
  if (!known || required.some((name) => typeof fields[name] !== "string")) {
    throw notMatching("data did not match any variant of untagged enum SerializedAuthProvider");
  }
}

function notMatching(reason: string): DeployError {
  return new DeployError(
    "AuthConfigNotMatchingSchemaError",
    `auth config file must include a list of provider credentials: ${reason}`,
  );
}
