/** An identity provider on this machine: keys, tokens, and what it publishes. */

import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type Algorithm = "RS256" | "ES256" | "EdDSA";

export interface SigningKey {
  readonly algorithm: Algorithm;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: object;
}

export function makeKey(algorithm: Algorithm, kid: string): SigningKey {
  const { publicKey, privateKey } =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : algorithm === "ES256"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("ed25519");
  return {
    algorithm,
    kid,
    privateKey,
    jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: algorithm, use: "sig" },
  };
}

export function makeToken(key: SigningKey, claims: object, header: object = {}): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const signed = `${part({ alg: key.algorithm, typ: "JWT", kid: key.kid, ...header })}.${part({ iat: now, exp: now + 3600, ...claims })}`;
  const signature = sign(key.algorithm === "EdDSA" ? null : "sha256", Buffer.from(signed), {
    key: key.privateKey,
    dsaEncoding: "ieee-p1363",
  });
  return `${signed}.${signature.toString("base64url")}`;
}

export function keySet(...keys: SigningKey[]): { keys: object[] } {
  return { keys: keys.map((key) => key.jwk) };
}

export function dataUrl(value: object): string {
  return `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString("base64")}`;
}

/** Serves OpenID Connect discovery and a key set; resolves to the issuer's URL. */
export async function startProvider(t: TestContext, keys: { keys: object[] }): Promise<string> {
  let issuer = "";
  const documents: Readonly<Record<string, () => object>> = {
    "/.well-known/openid-configuration": () => ({
      issuer,
      jwks_uri: `${issuer}/jwks`,
      authorization_endpoint: `${issuer}/authorize`,
    }),
    "/jwks": () => keys,
  };
  const server = createServer((request, response) => {
    const document = documents[request.url ?? ""];
    response.writeHead(document ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(document?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return issuer;
}
