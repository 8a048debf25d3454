/** A provider of one's own, as in https://docs.convex.dev/auth/advanced/custom-jwt */
import type { AuthConfig } from "convex/server";

export default {
  providers: [
    {
      type: "customJwt",
      applicationID: "accounts",
      issuer: "https://id.example.com",
      jwks: process.env.AUTH_JWKS!,
      algorithm: "ES256",
    },
  ],
} satisfies AuthConfig;
