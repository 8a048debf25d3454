/** `ConvexClient` of `convex/browser`: https://docs.convex.dev/client/javascript */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConvexClient } from "convex/browser";
import { ConvexError } from "convex/values";
import { api, errorOf, eventually } from "../test/harness.ts";
import { ADMIN_KEY } from "../versions.ts";
import { deployApp, type AdminAuth } from "./test/app.ts";
import { cuttableProxy } from "./test/cuttable_proxy.ts";
import { identityProvider } from "./test/identity_provider.ts";

interface Message {
  readonly body: string;
}

const bodies = (messages: unknown): string[] => (messages as Message[]).map((message) => message.body);

test("ConvexClient in a chat", async (t) => {
  const app = await deployApp(t, "chat");
  const { list, send } = api.messages;

  await t.test("optimistic updates are shown at once, and replaced or rolled back", async () => {
    const client = app.connect();
    const seen: string[][] = [];
    client.onUpdate(list, { room: "optimism" }, (messages) => seen.push(bodies(messages)));
    await eventually(() => seen.length === 1);
    const optimistically = async (body: string): Promise<unknown> =>
      await client.mutation(
        send,
        { room: "optimism", author: "ada", body },
        {
          optimisticUpdate: (store) => {
            const shown = store.getQuery(list, { room: "optimism" }) as Message[];
            store.setQuery(list, { room: "optimism" }, [...shown, { body: `${body} (sending)` }]);
          },
        },
      );
    await optimistically("hi");
    assert.deepEqual(seen, [[], ["hi (sending)"], ["hi"]]);
    const failure = await errorOf(() => optimistically(" "));
    assert.ok(failure instanceof ConvexError);
    assert.equal(failure.data, "Say something");
    await eventually(() => seen.length === 5);
    assert.deepEqual(seen.slice(3), [["hi", "  (sending)"], ["hi"]]);
  });

  await t.test("errors of subscriptions reach their handler, and the subscription recovers", async () => {
    const client = app.connect();
    const errors: string[] = [];
    client.onUpdate(
      list,
      { room: 5 },
      () => assert.fail("has no result"),
      (error) => errors.push(error.message),
    );
    await eventually(() => errors.length === 1);
    assert.match(errors[0] ?? "", /ArgumentValidationError[\s\S]*Path: \.room/);
    const error = await errorOf(() => client.mutation(send, { room: "errors", author: "a", body: "x".repeat(281) }));
    assert.deepEqual([error.name, error.data], ["ConvexError", { code: "too long", limit: 280 }]);
  });

  await t.test("after unsubscribing nothing comes any more, and the current value is known before", async () => {
    const client = app.connect();
    const seen: string[][] = [];
    const subscription = client.onUpdate(list, { room: "leaving" }, (messages) => seen.push(bodies(messages)));
    await eventually(() => seen.length === 1);
    assert.deepEqual(subscription.getCurrentValue(), []);
    subscription.unsubscribe();
    await client.mutation(send, { room: "leaving", author: "a", body: "unseen" });
    assert.deepEqual(bodies(await client.query(list, { room: "leaving" })), ["unseen"]);
    assert.deepEqual(seen, [[]]);
  });

  await t.test(
    "a socket that is cut is opened again: subscriptions go on, a lost answer does not repeat the mutation",
    async (tt) => {
      const proxy = await cuttableProxy(tt, app.backend.port);
      const client = new ConvexClient(proxy.url, { logger: false });
      tt.after(() => client.close());
      const seen: string[][] = [];
      client.onUpdate(list, { room: "cut" }, (messages) => seen.push(bodies(messages)));
      await client.mutation(send, { room: "cut", author: "a", body: "before" });
      assert.equal(client.connectionState().isWebSocketConnected, true);

      proxy.swallowAnswers = true;
      const unanswered = client.mutation(send, { room: "cut", author: "a", body: "during" });
      await eventually(async () => bodies(await app.http.query(list, { room: "cut" })).includes("during"));
      assert.equal(client.connectionState().hasInflightRequests, true);
      proxy.swallowAnswers = false;
      proxy.cut();
      await unanswered;
      await app.http.mutation(send, { room: "cut", author: "b", body: "after" });
      await eventually(() => seen.at(-1)?.length === 3);
      assert.deepEqual(seen.at(-1), ["before", "during", "after"]);
      assert.equal(client.connectionState().connectionCount, 2);
    },
  );
});

test("ConvexClient with paginated queries that react", async (t) => {
  const app = await deployApp(t, "feed");
  const { newest, write, remove, like } = api.posts;
  const ids: string[] = [];
  for (let post = 1; post <= 5; post++) {
    ids.push((await app.http.mutation(write, { author: "a", body: `post ${post}` })) as string);
  }

  interface Page {
    readonly results: Message[];
    readonly status: string;
    loadMore(count: number): boolean;
  }
  const client = app.connect();
  let page: Page | undefined;
  const shown = (): string => `${bodies(page?.results ?? []).join(", ")} [${page?.status}]`;
  client.onPaginatedUpdate_experimental(
    newest,
    {},
    { initialNumItems: 2 },
    (result) => (page = result as unknown as Page),
  );

  await eventually(() => shown() === "post 5, post 4 [CanLoadMore]");
  page?.loadMore(2);
  await eventually(() => shown() === "post 5, post 4, post 3, post 2 [CanLoadMore]");

  await t.test("documents that come in, change or go away show up on their page", async () => {
    await app.http.mutation(write, { author: "b", body: "post 6" });
    await eventually(() => shown() === "post 6, post 5, post 4, post 3, post 2 [CanLoadMore]");
    await app.http.mutation(remove, { id: ids[3] });
    await eventually(() => shown() === "post 6, post 5, post 3, post 2 [CanLoadMore]");
    await app.http.mutation(like, { id: ids[2] });
    await eventually(() => (page?.results[2] as unknown as { likes: number }).likes === 1);
  });

  await t.test("the last page says so", async () => {
    page?.loadMore(5);
    await eventually(() => shown() === "post 6, post 5, post 3, post 2, post 1 [Exhausted]");
  });
});

test("ConvexClient that logs in", async (t) => {
  const provider = identityProvider();
  const app = await deployApp(t, "accounts", { env: { AUTH_JWKS: provider.jwks } });
  const { store, current } = api.users;

  await t.test("setAuth: the token is fetched and verified, and queries run as the user", async () => {
    const client = app.connect();
    const changes: boolean[] = [];
    const seen: unknown[] = [];
    client.onUpdate(current, {}, (value) => seen.push(value));
    await eventually(() => seen.length === 1);
    client.setAuth(
      async () => provider.token({ sub: "ada", name: "Ada", email: "ada@example.com" }),
      (isAuthenticated) => changes.push(isAuthenticated),
    );
    await eventually(() => changes.at(-1) === true);
    await client.mutation(store, {});
    await eventually(() => seen.length >= 3);
    assert.deepEqual(seen, [
      null,
      { email: "ada@example.com", stored: null },
      { email: "ada@example.com", stored: "Ada" },
    ]);
    assert.equal(client.getAuth()?.decoded["sub"], "ada");
  });

  await t.test("setAuth: without a token the user is nobody", async () => {
    const client = app.connect();
    const changes: boolean[] = [];
    client.setAuth(
      async () => null,
      (isAuthenticated) => changes.push(isAuthenticated),
    );
    await eventually(() => changes.length > 0);
    assert.deepEqual([changes, await client.query(current, {})], [[false], null]);
    assert.match(
      (await errorOf(() => client.mutation(store, {}))).message,
      /Called storeUser without authentication present/,
    );
  });

  await t.test("setAuth: a token that expires is fetched anew, and a refused one ends as logged out", async () => {
    const client = app.connect();
    const changes: boolean[] = [];
    const asked: boolean[] = [];
    const expired = Math.floor(Date.now() / 1000) - 60;
    const fetchToken = async ({ forceRefreshToken }: { forceRefreshToken: boolean }): Promise<string> => {
      asked.push(forceRefreshToken);
      return provider.token({ sub: "bob", exp: forceRefreshToken ? expired + 3600 : expired });
    };
    client.setAuth(fetchToken, (isAuthenticated) => changes.push(isAuthenticated));
    await eventually(() => changes.at(-1) === true);
    assert.deepEqual(asked.slice(0, 2), [false, true]);

    const refused = app.connect();
    const stranger = identityProvider();
    const outcome: boolean[] = [];
    refused.setAuth(
      async () => stranger.token({ sub: "eve" }),
      (isAuthenticated) => outcome.push(isAuthenticated),
    );
    await eventually(() => outcome.length > 0);
    assert.deepEqual([outcome.includes(true), await refused.query(current, {})], [false, null]);
  });

  await t.test("setAdminAuth: everything is callable, and as anybody where an identity is given", async () => {
    const client = app.connect();
    const admin = client.client as unknown as AdminAuth;
    admin.setAdminAuth(ADMIN_KEY);
    assert.equal(await client.query(current, {}), null);
    assert.ok(
      Array.isArray(
        await client.query("_system/frontend/listTableScan" as never, { table: "users", limit: 1 } as never),
      ),
    );

    const impersonating = app.connect();
    (impersonating.client as unknown as AdminAuth).setAdminAuth(ADMIN_KEY, {
      subject: "grace",
      issuer: "https://id.example.com",
      name: "Grace",
      email: "g@example.com",
    });
    await impersonating.mutation(store, {});
    assert.deepEqual(await impersonating.query(current, {}), { email: "g@example.com", stored: "Grace" });
  });
});
