import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ConvexHttpClient } from "convex/browser";
import { api, deploy, errorOf, eventually, post, type TestApp } from "./harness.ts";
import { dataUrl, keySet, makeKey, makeToken, startProvider } from "./identity_provider.ts";

const WHOAMI =
  'import { query, httpAction } from "./_generated/server"; export const whoami = query({ args: {}, handler: async (ctx) => await ctx.auth.getUserIdentity() });';
const HTTP =
  'import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server"; const http = httpRouter(); http.route({ path: "/who", method: "GET", handler: httpAction(async (ctx) => Response.json(await ctx.auth.getUserIdentity())) }); export default http;';

async function deployWith(t: TestContext, providers: object[]): Promise<TestApp> {
  return await deploy(t, {
    "convex/users.ts": WHOAMI,
    "convex/http.ts": HTTP,
    "convex/auth.config.ts": `export default { providers: ${JSON.stringify(providers)} };`,
  });
}

async function ask({ backend }: TestApp, token: string): Promise<Record<string, unknown>> {
  const { status, body } = await post(
    `${backend.url}/api/query`,
    { path: "users:whoami", args: {}, format: "json" },
    { authorization: `Bearer ${token}` },
  );
  return body["status"] === "success" ? (body["value"] as Record<string, unknown>) : { status, ...body };
}

test("OpenID Connect", async (t) => {
  const rsa = makeKey("RS256", "one");
  const edwards = makeKey("EdDSA", "two");
  const elliptic = makeKey("ES256", "three");
  const issuer = await startProvider(t, keySet(rsa, edwards, elliptic));
  const app = await deployWith(t, [{ domain: `${issuer}/`, applicationID: "my-app" }]);
  const claims = { iss: issuer, sub: "u1", aud: "my-app" };
  const base = { issuer, subject: "u1", tokenIdentifier: `${issuer}|u1` };

  await t.test("standard claims get Convex's names, others keep theirs", async () => {
    const profile = {
      name: "Ada L",
      given_name: "Ada",
      email: "a@b.c",
      email_verified: true,
      picture: "p",
      updated_at: 0,
      role: { admin: [1] },
      nbf: 1,
      jti: "x",
    };
    assert.deepEqual(await ask(app, makeToken(rsa, { ...claims, ...profile })), {
      ...base,
      name: "Ada L",
      givenName: "Ada",
      email: "a@b.c",
      emailVerified: true,
      pictureUrl: "p",
      updatedAt: "1970-01-01T00:00:00+00:00",
      role: { admin: [1] },
    });
    assert.deepEqual(await ask(app, makeToken(edwards, { ...claims, aud: ["other", "my-app"] })), base);
    assert.deepEqual(await ask(app, makeToken(rsa, claims, { kid: undefined })), base);
  });

  await t.test("tokens that are refused", async () => {
    const unverified =
      "Could not verify OIDC token claim. Check that the token signature is valid and the token hasn't expired.";
    const cases: [string, string, string][] = [
      ["nonsense", "InvalidAuthHeader", "Could not parse JWT payload"],
      [makeToken(rsa, { sub: "u1", aud: "my-app" }), "InvalidAuthHeader", "Missing issuer claim ('iss')"],
      [
        makeToken(rsa, { ...claims, aud: "other" }),
        "NoAuthProvider",
        `No auth provider found matching the given token. Check that your JWT's issuer and audience match one of your configured providers: [OIDC(domain=${issuer}/, app_id=my-app)]`,
      ],
      [makeToken(rsa, { ...claims, iss: "https://elsewhere" }), "NoAuthProvider", "No auth provider found"],
      [makeToken(rsa, { ...claims, exp: 1 }), "Unauthenticated", unverified],
      [makeToken(makeKey("RS256", "one"), claims), "Unauthenticated", unverified],
      [makeToken(elliptic, claims), "Unauthenticated", unverified],
      [makeToken(rsa, claims, { alg: "none" }).replace(/[^.]+$/, ""), "Unauthenticated", unverified],
    ];
    for (const [token, code, message] of cases) {
      const answer = await ask(app, token);
      assert.deepEqual([answer["status"], answer["code"]], [401, code], JSON.stringify(answer));
      assert.ok(String(answer["message"]).includes(message), String(answer["message"]));
    }
  });

  await t.test("clients: setAuth over HTTP and WebSocket, HTTP actions", async () => {
    const token = makeToken(rsa, claims);
    const http = new ConvexHttpClient(app.backend.url, { logger: false });
    http.setAuth(token);
    assert.deepEqual(await http.query(api.users.whoami), base);
    const site = await fetch(`${app.backend.siteUrl}/who`, { headers: { authorization: `Bearer ${token}` } });
    assert.deepEqual(await site.json(), base);
    const client = app.connect();
    const seen: unknown[] = [];
    client.onUpdate(api.users.whoami, {}, (value) => seen.push(value));
    await eventually(() => seen.length > 0);
    const authenticated: boolean[] = [];
    client.setAuth(
      async () => token,
      (is) => authenticated.push(is),
    );
    await eventually(() => authenticated.at(-1) === true && seen.length > 1);
    assert.deepEqual(seen, [null, base]);
  });

  await t.test("a refused token leaves a WebSocket client signed out", async () => {
    const client = app.connect();
    const authenticated: boolean[] = [];
    client.setAuth(
      async () => makeToken(makeKey("RS256", "one"), claims),
      (is) => authenticated.push(is),
    );
    await eventually(() => authenticated.at(-1) === false);
    assert.equal(await client.query(api.users.whoami, {}), null);
  });
});

test("custom JWTs", async (t) => {
  const elliptic = makeKey("ES256", "e");
  const rsa = makeKey("RS256", "r");
  const issuer = await startProvider(t, keySet(rsa));
  const app = await deployWith(t, [
    { type: "customJwt", issuer: "https://data.example", jwks: dataUrl(keySet(elliptic)), algorithm: "ES256" },
    { type: "customJwt", issuer, jwks: `${issuer}/jwks`, algorithm: "RS256", applicationID: "app" },
    { type: "customJwt", issuer: "https://gone.example", jwks: `${issuer}/gone`, algorithm: "RS256" },
  ]);

  await t.test("claims keep their names and are flattened", async () => {
    const token = makeToken(elliptic, {
      iss: "https://data.example",
      sub: "u",
      given_name: "G",
      properties: { id: 7, deep: { x: [1] } },
    });
    assert.deepEqual(await ask(app, token), {
      issuer: "https://data.example",
      subject: "u",
      tokenIdentifier: "https://data.example|u",
      given_name: "G",
      "properties.id": 7,
      "properties.deep.x": [1],
    });
    assert.equal((await ask(app, makeToken(rsa, { iss: issuer, sub: "u", aud: "app" })))["subject"], "u");
    const justExpired = { iss: issuer, sub: "u", aud: "app", exp: Math.floor(Date.now() / 1000) - 2 };
    assert.equal((await ask(app, makeToken(rsa, justExpired)))["subject"], "u");
  });

  await t.test("tokens that are refused", async () => {
    const own = { iss: issuer, sub: "u", aud: "app" };
    const cases: [string, string][] = [
      [makeToken(rsa, { ...own, aud: "other" }), "No auth provider found matching the given token"],
      [
        makeToken(makeKey("RS256", "r"), own),
        "Could not decode token. The JWT's 'kid' (key ID) header is 'r', does this key match any key in the provider's JWKS?",
      ],
      [makeToken(rsa, own, { kid: undefined }), "Could not decode token. JWT may be missing a 'kid' (key ID) header."],
      [makeToken(rsa, { ...own, exp: 1 }), "Could not validate token: "],
      [makeToken(rsa, { ...own, sub: undefined }), "Missing subject"],
      [
        makeToken(rsa, { iss: "https://gone.example", sub: "u" }),
        `Could not fetch JWKS from URL '${issuer}/gone': HTTP 404 Not Found. Check that the URL is correct and accessible.`,
      ],
    ];
    for (const [token, message] of cases) {
      const answer = await ask(app, token);
      assert.equal(answer["status"], 401, JSON.stringify(answer));
      assert.ok(String(answer["message"]).includes(message), String(answer["message"]));
    }
  });
});

test("keys of a set", async (t) => {
  const key = makeKey("ES256", "k");
  const secret = { ...key.privateKey.export({ format: "jwk" }), kid: "k", key_ops: ["sign"] };
  const sets: Record<string, object> = {
    private: { keys: [null, { kty: "new" }, secret] },
    ambiguous: keySet(key, makeKey("ES256", "k")),
    broken: { keys: [{ ...key.jwk, x: "!" }] },
  };
  const providers = Object.entries(sets).map(([name, jwks]) => ({
    type: "customJwt",
    issuer: `https://${name}.example`,
    jwks: dataUrl(jwks),
    algorithm: "ES256",
  }));
  const app = await deployWith(t, providers);
  const answer = (name: string): Promise<Record<string, unknown>> =>
    ask(app, makeToken(key, { iss: `https://${name}.example`, sub: "u" }));
  assert.equal((await answer("private"))["subject"], "u");
  for (const name of ["ambiguous", "broken"]) {
    assert.match(
      String((await answer(name))["message"]),
      /^Could not decode token\. The JWT's 'kid' \(key ID\) header is 'k'/,
    );
  }
});

test("without providers every token is refused, and so are other schemes", async (t) => {
  const app = await deploy(t, { "convex/users.ts": WHOAMI });
  const http = new ConvexHttpClient(app.backend.url, { logger: false });
  http.setAuth(makeToken(makeKey("ES256", "k"), { iss: "https://a", sub: "u" }));
  assert.match(
    (await errorOf(() => http.query(api.users.whoami))).message,
    /"code":"NoAuthProvider".*\(no providers configured\)\. Check convex\/auth\.config\.ts\./,
  );
  const basic = await post(
    `${app.backend.url}/api/query`,
    { path: "users:whoami", args: {} },
    { authorization: "Basic x" },
  );
  assert.equal(basic.status, 401);
  assert.equal(
    (await post(`${app.backend.url}/api/query`, { path: "users:whoami", args: {} }, { authorization: "Convex wrong" }))
      .status,
    401,
  );
});
