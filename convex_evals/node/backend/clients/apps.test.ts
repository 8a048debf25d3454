/** The apps, used as their users would, through official clients. */

import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { ConvexHttpClient } from "convex/browser";
import { api, errorOf, eventually } from "../test/harness.ts";
import { deployApp } from "./test/app.ts";
import { identityProvider } from "./test/identity_provider.ts";

test("chat: messages and presence", async (t) => {
  const app = await deployApp(t, "chat");
  const { messages, presence } = api;
  const ada = app.connect();
  const bob = app.connect();
  const seen: string[] = [];
  const rooms: string[] = [];
  ada.onUpdate(messages.list, { room: "r" }, (list) =>
    seen.push(
      (list as { author: string; body: string }[]).map((message) => `${message.author}: ${message.body}`).join(" | "),
    ),
  );
  ada.onUpdate(presence.list, { room: "r" }, (list) =>
    rooms.push(
      (list as { user: string; typing: boolean }[])
        .map(({ user, typing }) => `${user}${typing ? " types" : ""}`)
        .join(", "),
    ),
  );
  await eventually(() => seen.length === 1 && rooms.length === 1);
  await ada.mutation(presence.heartbeat, { room: "r", user: "ada", typing: false, lifetimeMs: 60_000 });
  await bob.mutation(presence.heartbeat, { room: "r", user: "bob", typing: true, lifetimeMs: 100 });
  await bob.mutation(messages.send, { room: "r", author: "bob", body: "  anybody here? " });
  await bob.mutation(messages.send, { room: "other", author: "bob", body: "elsewhere" });
  await eventually(() => seen.at(-1) === "bob: anybody here?" && rooms.at(-1) === "ada");
  assert.deepEqual(rooms, ["", "ada", "ada, bob types", "ada"]);
});

test("images: upload by URL, serve, metadata, delete", async (t) => {
  const { http, backend, connect } = await deployApp(t, "images");
  const { messages } = api;
  const image = randomBytes(70_000);
  const seen: { author: string; url: string | null }[][] = [];
  connect().onUpdate(messages.list, {}, (list) => seen.push(list as (typeof seen)[number]));

  const postUrl = (await http.mutation(messages.generateUploadUrl, {})) as string;
  const uploaded = await fetch(postUrl, {
    method: "POST",
    headers: { "Content-Type": "image/png" },
    body: new Blob([new Uint8Array(image)]),
  });
  const { storageId } = (await uploaded.json()) as { storageId: string };
  await http.mutation(messages.sendImage, { storageId, author: "User 1" });
  const shown = await eventually(() => seen.at(-1)?.[0]);
  const served = await fetch(shown.url ?? "");
  assert.deepEqual(
    [served.headers.get("content-type"), Buffer.from(await served.arrayBuffer()).equals(image)],
    ["image/png", true],
  );

  const { _id, _creationTime, ...metadata } = (await http.query(messages.metadata, { storageId })) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    [_id, typeof _creationTime, metadata],
    [
      storageId,
      "number",
      { contentType: "image/png", sha256: createHash("sha256").update(image).digest("base64"), size: 70_000 },
    ],
  );

  await t.test("through an HTTP action, with CORS", async () => {
    const preflight = await fetch(`${backend.siteUrl}/sendImage`, {
      method: "OPTIONS",
      headers: {
        Origin: "https://app.example.com",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
      },
    });
    assert.deepEqual(
      [
        preflight.status,
        preflight.headers.get("access-control-allow-methods"),
        preflight.headers.get("access-control-allow-headers"),
      ],
      [200, "POST", "Content-Type, Digest"],
    );
    const sent = await fetch(`${backend.siteUrl}/sendImage?author=User+2`, {
      method: "POST",
      headers: { "Content-Type": "image/jpeg" },
      body: new Uint8Array(image),
    });
    assert.deepEqual(
      [sent.status, sent.headers.get("access-control-allow-origin"), sent.headers.get("vary")],
      [200, "https://app.example.com", "origin"],
    );
    await eventually(() => seen.at(-1)?.[1]?.author === "User 2");
    assert.equal((await fetch(`${backend.siteUrl}/sendImage`, { method: "POST", body: "x" })).status, 400);
    const got = await fetch(`${backend.siteUrl}/getImage?storageId=${storageId}`);
    assert.deepEqual([got.headers.get("content-type"), (await got.arrayBuffer()).byteLength], ["image/png", 70_000]);
  });

  await http.mutation(messages.deleteImage, { storageId });
  await eventually(() => seen.at(-1)?.[0]?.url === null);
  assert.deepEqual(
    [(await fetch(shown.url ?? "")).status, await http.query(messages.metadata, { storageId })],
    [404, null],
  );
});

test("feed: pages over an index, and search", async (t) => {
  const { http, connect } = await deployApp(t, "feed");
  const { mostLiked, search, write, like, remove } = api.posts;
  const bodies = [
    "apple pie with cinnamon",
    "apple juice",
    "pumpkin pie",
    "an apple a day, an apple a night",
    "applied physics",
  ];
  const ids: string[] = [];
  for (const body of bodies) {
    ids.push((await http.mutation(write, { author: body.startsWith("a") ? "ada" : "bob", body })) as string);
  }
  for (const [index, count] of [3, 1, 9, 2, 0].entries()) {
    for (let n = 0; n < count; n++) await http.mutation(like, { id: ids[index] });
  }

  const likes: number[] = [];
  let cursor: string | null = null;
  for (let done = false; !done; ) {
    const page = (await http.query(mostLiked, {
      author: "ada",
      atLeast: 1,
      paginationOpts: { numItems: 2, cursor },
    })) as { page: { likes: number }[]; isDone: boolean; continueCursor: string };
    likes.push(...page.page.map((post) => post.likes));
    [cursor, done] = [page.continueCursor, page.isDone];
  }
  assert.deepEqual(likes, [3, 2, 1]);

  const found = async (text: string, author?: string): Promise<string[]> =>
    ((await http.query(search, author === undefined ? { text } : { text, author })) as string[]).sort();
  assert.deepEqual(await found("pie"), ["apple pie with cinnamon", "pumpkin pie"]);
  assert.deepEqual(await found("pie", "ada"), ["apple pie with cinnamon"]);
  assert.deepEqual(await found("appl"), bodies.filter((body) => body.includes("appl")).sort());
  const results: string[][] = [];
  connect().onUpdate(search, { text: "pumpkin" }, (value) => results.push(value as string[]));
  await eventually(() => results.length === 1);
  await http.mutation(remove, { id: ids[2] });
  await eventually(() => results.at(-1)?.length === 0);
});

test("webhooks: an HTTP API with routes by prefix, and signed deliveries", async (t) => {
  const { http, backend } = await deployApp(t, "webhooks", { env: { WEBHOOK_SECRET: "whsec" } });
  const site = async (path: string, init: RequestInit = {}): Promise<[number, string]> => {
    const response = await fetch(`${backend.siteUrl}${path}`, init);
    return [response.status, await response.text()];
  };
  await site("/postMessage", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{ "author": "User 123", "body": "Hello world" }',
  });
  assert.deepEqual(await site("/getAuthorMessages/User%20123"), [200, '["Sent via HTTP action: Hello world"]']);
  assert.deepEqual(await site("/export"), [200, '["User 123","Sent via HTTP action: Hello world"]\n["User 456"]\n']);

  const deliver = async (id: string, body: string, secret: string): Promise<[number, string]> =>
    await site("/webhooks/order.paid", {
      method: "POST",
      body,
      headers: {
        "x-delivery-id": id,
        "x-signature": createHmac("sha256", secret).update(`${id}.${body}`).digest("hex"),
      },
    });
  assert.deepEqual(await deliver("1", '{"total":5}', "whsec"), [201, '{"isNew":true}']);
  assert.deepEqual(await deliver("1", '{"total":5}', "whsec"), [200, '{"isNew":false}']);
  assert.deepEqual(await deliver("2", '{"total":6}', "guessed"), [401, "The signature is wrong"]);
  assert.deepEqual(await http.query(api.deliveries.list), [
    { deliveryId: "1", event: "order.paid", payload: { total: 5 } },
  ]);

  assert.deepEqual(await site("/webhooks/ping", { method: "POST" }), [200, "pong"]);
  assert.deepEqual(await site("/webhooks/internal/x", { method: "POST" }), [403, "Not here"]);
  assert.equal((await site("/webhooks/ping"))[0], 404);
});

test("reminders: scheduled functions, their states, and crons", async (t) => {
  const { http, connect } = await deployApp(t, "reminders");
  const { messages, reminders } = api;
  const counts: number[] = [];
  connect().onUpdate(messages.list, {}, (list) => counts.push((list as unknown[]).length));
  await eventually(() => counts.length === 1);
  await http.mutation(messages.sendExpiringMessage, {
    body: "This message will self-destruct",
    author: "M",
    lifetimeMs: 50,
  });
  const due = (await http.mutation(reminders.create, { text: "milk", atMs: Date.now() + 30 })) as string;
  const failing = (await http.mutation(reminders.create, { text: "fail", atMs: Date.now() })) as string;
  const calledOff = (await http.mutation(reminders.create, { text: "tea", atMs: Date.now() + 3_600_000 })) as string;
  assert.deepEqual(await http.query(reminders.status, { id: calledOff }), { sent: 0, job: "pending" });
  await http.mutation(reminders.callOff, { id: calledOff });
  const status = async (id: string): Promise<string> => {
    const { sent, job } = (await http.query(reminders.status, { id })) as { sent: number; job: string };
    return `${sent} ${job}`;
  };
  await eventually(async () => (await status(due)) === "1 success" && (await status(failing)) === "1 failed");
  assert.equal(await status(calledOff), "0 canceled");
  await eventually(() => counts.length === 3);
  assert.deepEqual(counts, [0, 1, 0]);
  await eventually(async () => ((await http.query(reminders.ticks, { source: "interval" })) as number) >= 2);
  assert.equal(await http.query(reminders.ticks, { source: "monthly" }), 0);
});

test("recipes: vector search", async (t) => {
  const { http } = await deployApp(t, "recipes");
  const { insert, similarFoods } = api.foods;
  const foods = {
    taco: ["Mexican", [1, 0, 0]],
    burrito: ["Mexican", [0.9, 0.1, 0]],
    crepe: ["French", [0, 1, 0]],
    ratatouille: ["French", [0.5, 0.5, 0]],
  } as const;
  for (const [description, [cuisine, embedding]] of Object.entries(foods)) {
    await http.mutation(insert, { description, cuisine, embedding });
  }
  const similar = async (cuisines: string[], limit = 10): Promise<string[]> =>
    ((await http.action(similarFoods, { vector: [1, 0, 0], cuisines, limit })) as { description: string }[]).map(
      (food) => food.description,
    );
  assert.deepEqual(await similar([]), ["taco", "burrito", "ratatouille", "crepe"]);
  assert.deepEqual(await similar(["French"], 1), ["ratatouille"]);
  assert.deepEqual(await similar(["French", "Mexican"], 2), ["taco", "burrito"]);
  assert.match(
    (await errorOf(() => http.action(similarFoods, { vector: [1, 0], cuisines: [], limit: 1 }))).message,
    /dimension/i,
  );
});

test("accounts: users are stored when they log in", async (t) => {
  const provider = identityProvider();
  const { http, backend } = await deployApp(t, "accounts", { env: { AUTH_JWKS: provider.jwks } });
  const { users, messages } = api;
  const ada = new ConvexHttpClient(backend.url, { logger: false, auth: provider.token({ sub: "ada", name: "Ada" }) });
  assert.deepEqual(await ada.query(users.current), { email: null, stored: null });
  const id = await ada.mutation(users.store, {});
  ada.setAuth(provider.token({ sub: "ada", name: "Ada Lovelace", email: "ada@example.com" }));
  assert.equal(await ada.mutation(users.store, {}), id);
  await ada.mutation(messages.send, { body: "note G" });
  assert.deepEqual(await http.query(messages.list), [{ body: "note G", author: "Ada Lovelace" }]);
  assert.match(
    (await errorOf(() => http.mutation(messages.send, { body: "?" }))).message,
    /Unauthenticated call to mutation/,
  );
});
