import { createHmac } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { addDocuments, anonymousClient, clearTables, expectSameSchema, listCallable, listTable, ownFields, siteUrl } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();
const SECRET = "whsec_Grüße-and 7 more";
const OTHER_SECRET = "whsec_of another shop";
/** What the route of the task may be: this path, or all that begins like it. */
const ROUTES = ["POST /webhooks/payments", "POST /webhooks/*", "POST /*"];

function sign(body: string | Uint8Array, secret = SECRET): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

interface Delivery {
  /** Null: without the header. */
  shop?: string | null;
  signature?: string | null;
}

/** Sends a body, by default of the shop "books" with the right signature, and returns the status of the answer. */
async function deliver(body: string | Uint8Array<ArrayBuffer>, { shop = "books", signature = sign(body) }: Delivery = {}): Promise<number> {
  const headers = new Headers({ "content-type": "application/json" });
  if (shop !== null) headers.set("X-Shop", shop);
  if (signature !== null) headers.set("X-Signature", signature);
  const response = await fetch(siteUrl("/webhooks/payments"), { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

function succeeded(id: string, order: string, cents: number): string {
  return JSON.stringify({ id, type: "payment.succeeded", data: { order, cents } });
}

async function payments() {
  return (await listTable("payments")).map(ownFields);
}

beforeEach(async () => {
  await clearTables("payments", "shops");
  await addDocuments("shops", [
    { name: "books", secret: SECRET },
    { name: "tea", secret: OTHER_SECRET },
  ]);
});

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("clients can call the query, and nothing else", async () => {
  const functions = (await listCallable()).filter((callable) => !ROUTES.includes(callable));
  expect(functions, "clients must be able to call this query, send events to `/webhooks/payments`, and nothing else").toEqual(["payments:paid (query)"]);
});

test("a signed payment is stored before the answer", async () => {
  const status = await deliver(succeeded("evt_1", "A-17", 1999));
  const wanted = [{ shop: "books", eventId: "evt_1", order: "A-17", cents: 1999 }];
  expect(await payments(), "a signed payment must be stored when the answer arrives").toEqual(wanted);
  expect(status, "a signed payment must be answered with 200").toBe(200);
});

test("the signature is that of the body as it was sent", async () => {
  const bodies = [
    '{\n  "type": "payment.succeeded",\n  "data": { "cents": 1.50e2, "order": "spaces" },\n  "id": "evt_1"\n}\n',
    '{"id":"evt_2","type":"payment.succeeded","data":{"order":"Z\\u00fcrich\\/1","cents":5}}',
    '{"id":"evt_3","type":"payment.succeeded","data":{"order":"Genève 日本 🚲","cents":7}}',
    '{"id":"evt_0","type":"payment.succeeded","data":{"order":"free","cents":0}}',
    '{"2":0,"id":"evt_4","1":0,"type":"payment.succeeded","livemode":false,"data":{"order":"more","cents":9,"fee":1}}',
  ];
  for (const body of bodies) {
    expect(await deliver(body), `a body must be accepted with the signature of its own bytes, however its JSON is written: ${body}`).toBe(200);
  }
  expect(await payments(), "the payments must be stored as their events describe them").toEqual([
    { shop: "books", eventId: "evt_1", order: "spaces", cents: 150 },
    { shop: "books", eventId: "evt_2", order: "Zürich/1", cents: 5 },
    { shop: "books", eventId: "evt_3", order: "Genève 日本 🚲", cents: 7 },
    { shop: "books", eventId: "evt_0", order: "free", cents: 0 },
    { shop: "books", eventId: "evt_4", order: "more", cents: 9 },
  ]);
});

test("requests without the right signature are answered with 401 and store nothing", async () => {
  const body = succeeded("evt_1", "A-17", 1999);
  const right = sign(body);
  const digits = right.slice("sha256=".length);
  const lastOther = digits.endsWith("0") ? "1" : "0";
  const wrong: [string, string | null][] = [
    ["without `X-Signature`", null],
    ["with an empty `X-Signature`", ""],
    ["with `sha256=` and no digits", "sha256="],
    ["with the digits of another body", sign(succeeded("evt_1", "A-17", 1))],
    ["with the digits of another shop's secret", sign(body, OTHER_SECRET)],
    ["with the last digit changed", right.slice(0, -1) + lastOther],
    ["with the first half of the digits", right.slice(0, -32)],
    ["with more digits after the right ones", `${right}00`],
    ["without `sha256=` before the digits", digits],
    ["with `sha1=` before the digits", `sha1=${digits}`],
    ["with characters that are no hexadecimal digits", `sha256=${"xyz!".repeat(16)}`],
  ];
  for (const [how, signature] of wrong) {
    expect(await deliver(body, { signature }), `a request ${how} must be answered with 401`).toBe(401);
    expect(await payments(), `a request ${how} must not store anything`).toEqual([]);
  }
  expect(await deliver("not JSON", { signature: sign("something else") }), "a wrong signature must be answered with 401 whatever the body is").toBe(401);
  expect(await deliver(body), "the same body with the right signature must be answered with 200").toBe(200);
});

test("signed bodies that are no events are answered with 400 and store nothing", async () => {
  const bodies = [
    "",
    "not JSON",
    "null",
    '"evt_1"',
    '{"type":"payment.succeeded","data":{"order":"A-17","cents":5}}',
    '{"id":7,"type":"payment.succeeded","data":{"order":"A-17","cents":5}}',
    '{"id":"evt_1","data":{"order":"A-17","cents":5}}',
    '{"id":"evt_1","type":"payment.succeeded"}',
    '{"id":"evt_1","type":"payment.succeeded","data":null}',
    '{"id":"evt_1","type":"payment.succeeded","data":{"cents":5}}',
    '{"id":"evt_1","type":"payment.succeeded","data":{"order":"A-17","cents":"5"}}',
  ];
  for (const body of bodies) {
    expect(await deliver(body), `this body must be answered with 400 when its signature is right: ${body}`).toBe(400);
  }
  const bytes = Uint8Array.from([0xff, 0xfe, 0x00, 0x80]);
  expect(await deliver(bytes), "bytes that are no text must be answered with 400 when the signature is that of these bytes").toBe(400);
  expect(await payments(), "bodies that are answered with 400 must not store anything").toEqual([]);
});

test("events of other types are answered with 200 and store nothing", async () => {
  const other = { id: "evt_1", type: "payment.failed", data: { order: "A-17", cents: 1999 } };
  expect(await deliver(JSON.stringify(other)), "an event of another type must be answered with 200").toBe(200);
  expect(await deliver('{"id":"evt_2","type":"ping"}'), "an event of another type without `data` must be answered with 200").toBe(200);
  expect(await payments(), "events of other types must not store anything").toEqual([]);
});

test("an event that is sent again is stored once", async () => {
  await deliver(succeeded("evt_1", "A-17", 1999));
  expect(await deliver(succeeded("evt_1", "A-17", 1999)), "the second delivery of an event must be answered with 200").toBe(200);
  expect(await deliver(succeeded("evt_1", "B-18", 5)), "an event id that is known must be answered with 200").toBe(200);
  expect(await deliver(succeeded("evt_2", "A-17", 1999)), "another event with the same data must be answered with 200").toBe(200);
  expect(await payments(), "each event id must be stored once, as it came first; the same order and sum may come twice with different ids").toEqual([
    { shop: "books", eventId: "evt_1", order: "A-17", cents: 1999 },
    { shop: "books", eventId: "evt_2", order: "A-17", cents: 1999 },
  ]);
});

/** Sends bodies of the shop "books" at the same moment: connections and headers are there before, so none gets ahead. */
async function deliverTogether(bodies: string[]): Promise<(number | undefined)[]> {
  const requests = bodies.map((body) => {
    const headers = { "content-type": "application/json", "x-shop": "books", "x-signature": sign(body), "content-length": Buffer.byteLength(body) };
    const request = httpRequest(siteUrl("/webhooks/payments"), { method: "POST", headers, agent: false });
    const answered = once(request, "response").then(([first]) => {
      const response = first as IncomingMessage;
      response.resume();
      return response.statusCode;
    });
    request.flushHeaders();
    const connected = once(request, "socket").then(async ([first]) => {
      const socket = first as Socket;
      if (socket.connecting) await once(socket, "connect");
    });
    return { request, body, answered, connected };
  });
  await Promise.all(requests.map(({ connected }) => connected));
  // An answer to another request comes after the headers of these were read.
  await deliver("{}");
  for (const { request, body } of requests) request.end(body);
  return Promise.all(requests.map(({ answered }) => answered));
}

test("an event that arrives several times at once is stored once", async () => {
  // The machine decides whether deliveries meet, so they get several chances.
  for (let round = 0; round < 8; round++) {
    const ids = [`evt_${round}a`, `evt_${round}b`];
    const bodies = ids.flatMap((id) => Array.from({ length: 5 }, () => succeeded(id, "A-17", 100)));
    expect(await deliverTogether(bodies), "every delivery must be answered with 200, also those at the same time").toEqual(bodies.map(() => 200));
    const found = (await payments()).map(({ eventId }) => eventId);
    // Not how often: that is another number each time.
    const once = ids.every((id) => found.filter((other) => other === id).length === 1);
    expect(once, "two events that arrive five times at once must be stored once each").toBe(true);
  }
});

test("requests without the right shop are answered with 401 and store nothing", async () => {
  const body = succeeded("evt_1", "A-17", 1999);
  expect(await deliver(body, { shop: null }), "a request without `X-Shop` must be answered with 401").toBe(401);
  expect(await deliver(body, { shop: "tea" }), "a request with the signature of another shop must be answered with 401").toBe(401);
  for (const secret of ["undefined", "null", " ", SECRET]) {
    const rule = `a request of a shop that does not exist, signed with ${JSON.stringify(secret)}, must be answered with 401`;
    expect(await deliver(body, { shop: "nobody", signature: sign(body, secret) }), rule).toBe(401);
  }
  expect(await payments(), "requests without the right shop must not store anything").toEqual([]);
});

test("two shops may have events with the same id", async () => {
  const body = succeeded("evt_1", "A-17", 5);
  const statuses = [await deliver(body), await deliver(body, { shop: "tea", signature: sign(body, OTHER_SECRET) })];
  expect(statuses, "the same event id of two shops must be answered with 200").toEqual([200, 200]);
  expect(await payments(), "the same event id of two shops must be stored for both").toEqual([
    { shop: "books", eventId: "evt_1", order: "A-17", cents: 5 },
    { shop: "tea", eventId: "evt_1", order: "A-17", cents: 5 },
  ]);
});

test("paid sums up the payments of one order of one shop", async () => {
  await addDocuments("payments", [
    { shop: "books", eventId: "evt_1", order: "A-17", cents: 100 },
    { shop: "books", eventId: "evt_2", order: "B-18", cents: 30 },
    { shop: "books", eventId: "evt_3", order: "A-17", cents: 7 },
    { shop: "tea", eventId: "evt_3", order: "A-17", cents: 1 },
  ]);
  expect(await visitor.query(api.payments.paid, { shop: "books", order: "A-17" }), "`paid` must return the sum of the payments of the shop's order").toBe(107);
  expect(await visitor.query(api.payments.paid, { shop: "books", order: "C-19" }), "`paid` of an order without payments must return 0").toBe(0);
});
