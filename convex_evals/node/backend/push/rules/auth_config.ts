import { DeployError } from "../../errors.ts";
import type { DeployRule } from "./rule.ts";

/** https://docs.convex.dev/auth/advanced/custom-auth */
export const authConfigRule: DeployRule = (push) => {
  const config = push.app.definition.authConfig;
  if (config === null) return;
  const providers = (config as { providers?: unknown }).providers;
  if (!Array.isArray(providers)) {
    throw new DeployError("InvalidAuthConfig", "auth config file must include a list of provider credentials: `export default { providers: [] }`");
  }
  providers.forEach(checkProvider);
};

function checkProvider(provider: unknown, index: number): void {
  const fields = (typeof provider === "object" && provider !== null ? provider : {}) as Record<string, unknown>;
  const required = fields["type"] === "customJwt" ? ["issuer", "jwks", "algorithm"] : ["domain", "applicationID"];
  for (const name of required) {
    if (typeof fields[name] !== "string" || fields[name] === "") {
      throw new DeployError("InvalidAuthConfig", `auth config provider ${index} must have a string \`${name}\``);
    }
  }
}
