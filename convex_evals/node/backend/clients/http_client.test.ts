/** `ConvexHttpClient` of `convex/browser`: https://docs.convex.dev/client/javascript/node */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConvexHttpClient } from "convex/browser";
import { ConvexError } from "convex/values";
import { api, deploy, errorOf } from "../test/harness.ts";
import { ADMIN_KEY } from "../versions.ts";
import { deployApp, type AdminAuth } from "./test/app.ts";
import { identityProvider } from "./test/identity_provider.ts";

const VALUES = `
import { query, mutation } from "./_generated/server";
import { v } from "convex/values";
export const echo = query({ args: { value: v.any() }, returns: v.any(), handler: async (_ctx, { value }) => value });
export const order = mutation({ args: { step: v.number() }, handler: async (ctx, { step }) => {
  await ctx.db.insert("steps", { step });
  return (await ctx.db.query("steps").collect()).length;
} });
export const speak = query({ args: {}, handler: async () => { console.log("spoken"); } });
export const steps = query({ args: {}, handler: async (ctx) => (await ctx.db.query("steps").collect()).map(({ step }) => step) });
`;

test("ConvexHttpClient: values, order, errors", async (t) => {
  const { http, backend } = await deploy(t, { "convex/values.ts": VALUES });
  const { echo, order, speak, steps } = api.values;

  await t.test("every kind of value arrives as it was sent", async () => {
    const values = [
      null,
      true,
      -0,
      1.5,
      NaN,
      Infinity,
      "ü€😀\u0000",
      2n ** 63n - 1n,
      -(2n ** 63n),
      [],
      {},
      { a: [{ b: [null, 1n] }] },
    ];
    for (const value of values) assert.deepEqual(await http.query(echo, { value }), value);
    const bytes = new Uint8Array([0, 1, 255]).buffer;
    assert.deepEqual(
      new Uint8Array((await http.query(echo, { value: bytes })) as ArrayBuffer),
      new Uint8Array([0, 1, 255]),
    );
  });

  await t.test("mutations wait for each other, unless they are told not to", async () => {
    const results = await Promise.all([1, 2, 3, 4].map((step) => http.mutation(order, { step })));
    assert.deepEqual(
      [results, await http.query(steps)],
      [
        [1, 2, 3, 4],
        [1, 2, 3, 4],
      ],
    );
    const more = await Promise.all([5, 6].map((step) => http.mutation(order, { step }, { skipQueue: true })));
    assert.deepEqual(more.sort(), [5, 6]);
  });

  await t.test("consistent queries share a timestamp", async () => {
    const consistent = (client: ConvexHttpClient): Promise<unknown> =>
      (client as unknown as { consistentQuery(query: unknown): Promise<unknown> }).consistentQuery(steps);
    assert.equal(((await consistent(http)) as unknown[]).length, 6);
  });

  await t.test("console lines of functions come to the logger", async () => {
    const lines: string[] = [];
    const log = (...parts: unknown[]): void => void lines.push(parts.join(" "));
    const client = new ConvexHttpClient(backend.url, { logger: { logVerbose: log, log, warn: log, error: log } });
    await client.query(speak);
    assert.deepEqual(
      lines.map((line) => /\[CONVEX Q\(values:speak\)\].*\[LOG\].*'spoken'/.test(line)),
      [true],
    );
  });

  await t.test("errors say what is wrong with a call", async () => {
    assert.match(
      (await errorOf(() => http.query(echo, {}))).message,
      /^\[Request ID: \w+\] Server Error\nArgumentValidationError: Object is missing the required field `value`/,
    );
    assert.match(
      (await errorOf(() => http.mutation(echo, { value: 1 }))).message,
      /Trying to execute values\.js:echo as Mutation, but it is defined as Query/,
    );
  });
});

test("ConvexHttpClient: who calls", async (t) => {
  const provider = identityProvider();
  const { http, backend } = await deployApp(t, "accounts", { env: { AUTH_JWKS: provider.jwks } });
  const { users, messages } = api;

  await t.test("setAuth and clearAuth", async () => {
    const client = new ConvexHttpClient(backend.url, {
      logger: false,
      auth: provider.token({ sub: "ada", name: "Ada" }),
    });
    await client.mutation(users.store, {});
    await client.mutation(messages.send, { body: "hello" });
    client.setAuth(provider.token({ sub: "bob", name: "Bob" }));
    assert.match(
      (await errorOf(() => client.mutation(messages.send, { body: "too early" }))).message,
      /Unauthenticated call to mutation/,
    );
    await client.mutation(users.store, {});
    await client.mutation(messages.send, { body: "hi" });
    client.clearAuth();
    assert.equal(await client.query(users.current), null);
    assert.deepEqual(await http.query(messages.list), [
      { body: "hello", author: "Ada" },
      { body: "hi", author: "Bob" },
    ]);
  });

  await t.test("a token that is no token is refused", async () => {
    const client = new ConvexHttpClient(backend.url, { logger: false, auth: "not-a-token" });
    assert.match(
      (await errorOf(() => client.query(users.current))).message,
      /Could not parse as id token|InvalidAuthHeader/,
    );
  });

  await t.test("setAdminAuth, alone and as somebody", async () => {
    const client = new ConvexHttpClient(backend.url, { logger: false });
    const admin = client as unknown as AdminAuth;
    admin.setAdminAuth(ADMIN_KEY);
    assert.equal(await client.query(users.current), null);
    admin.setAdminAuth(ADMIN_KEY, { subject: "x", issuer: "https://id.example.com", name: "Xavier" });
    await client.mutation(users.store, {});
    assert.deepEqual(await client.query(users.current), { email: null, stored: "Xavier" });
    admin.setAdminAuth(`${ADMIN_KEY}0`);
    await assert.rejects(() => client.query(users.current), /BadDeployKey|admin key/);
  });
});

test("ConvexHttpClient: ConvexError carries its data", async (t) => {
  const { http } = await deployApp(t, "chat");
  const error = await errorOf(() =>
    http.mutation(api.messages.send, { room: "r", author: "a", body: "x".repeat(300) }),
  );
  assert.ok(error instanceof ConvexError);
  assert.deepEqual(error.data, { code: "too long", limit: 280 });
});
