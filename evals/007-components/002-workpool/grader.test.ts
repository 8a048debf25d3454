import {
  anonymousClient,
  clearTables,
  eventually,
  expectComponentUsed,
  expectError,
  expectSameFunctions,
  expectSameSchema,
  listCallable,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

interface Received {
  path: string;
  method: string;
  body: string;
}

const PATIENT = { timeoutMs: 2500 };
const visitor = anonymousClient();

let origin = "";
let received: Received[] = [];
let answer: (request: Received, response: ServerResponse) => void;

/** The other service. What it answers is up to each test. */
const service = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const seen = { path: request.url ?? "", method: request.method ?? "", body: Buffer.concat(chunks).toString("utf8") };
    received.push(seen);
    answer(seen, response);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});

beforeEach(async () => {
  await clearTables("deliveries");
  received = [];
  answer = ({ body }, response) => response.end(`thanks for ${body}`);
});

afterEach(() => service.closeAllConnections());

afterAll(() => {
  service.close();
});

function send(path: string, ...messages: string[]) {
  return visitor.mutation(api.webhooks.send, { url: `${origin}${path}`, messages });
}

async function deliveries() {
  return (await listTable("deliveries")).map(ownFields);
}

/** Waits until no delivery is pending any more. */
async function done(what: string) {
  return eventually(
    async () => {
      const all = await deliveries();
      expect(all.map(({ status }) => status as string), "the statuses of the deliveries").not.toContain("pending");
      return all;
    },
    { what, ...PATIENT },
  );
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("send is a public mutation, and nothing else is public", async () => {
  await expectSameFunctions();
  expect(await listCallable(), "clients must be able to call `webhooks:send` and nothing else").toEqual(["webhooks:send (mutation)"]);
});

test("the messages are sent by the component", async () => {
  const waiting: ServerResponse[] = [];
  answer = (_, response) => waiting.push(response);
  await expectComponentUsed("@convex-dev/workpool", "Messages that are being sent", () => send("/slow", "hello"));
  await eventually(() => waiting.length === 1, { what: "the message to be sent", ...PATIENT });
  for (const response of waiting) response.end();
  await done("the delivery to be done");
});

test("messages are stored in order, sent as they are and become delivered", async () => {
  const url = `${origin}/hook?from=test`;
  const waiting: ServerResponse[] = [];
  answer = (_, response) => waiting.push(response);
  const ids = await send("/hook?from=test", "hello", '{"b": 2}');
  const stored = await listTable("deliveries");
  expect(stored.map(ownFields), "`send` must store one pending delivery for each message, in order").toEqual([
    { url, message: "hello", status: "pending" },
    { url, message: '{"b": 2}', status: "pending" },
  ]);
  expect(ids, "`send` must return the ids of the deliveries in the order of the messages").toEqual(stored.map(({ _id }) => _id));
  await eventually(() => waiting.length === 2, { what: "both messages to be sent", ...PATIENT });
  const sent = received.toSorted((a, b) => (a.body < b.body ? -1 : 1));
  expect(sent, "each message must be the body of one POST request to `url`").toEqual([
    { path: "/hook?from=test", method: "POST", body: "hello" },
    { path: "/hook?from=test", method: "POST", body: '{"b": 2}' },
  ]);
  expect((await deliveries()).map(({ status }) => status as string), "a delivery must be pending until the service has answered").toEqual(["pending", "pending"]);
  for (const response of waiting) response.writeHead(202).end("got it");
  expect(await done("both deliveries to be done"), "after an answer with status 202").toEqual([
    { url, message: "hello", status: "delivered", answer: "got it" },
    { url, message: '{"b": 2}', status: "delivered", answer: "got it" },
  ]);
  expect(received, "a message that was delivered must not be sent again").toHaveLength(2);
});

test("a message is sent again after failures, three times at most", async () => {
  answer = ({ path, body }, response) => {
    if (path === "/hangs-up") return response.destroy();
    const attempt = received.filter((request) => request.path === path).length;
    return response.writeHead(path === "/recovers" && attempt === 3 ? 200 : 503 - attempt).end(`answer ${attempt} to ${body}`);
  };
  await Promise.all([send("/recovers", "again"), send("/broken", "hopeless"), send("/hangs-up", "hello?")]);
  const all = await done("deliveries with failures to be done");
  const bodies = (path: string) => received.filter((request) => request.path === path).map(({ body }) => body);
  expect(bodies("/recovers"), "a message must be sent three times if only the third attempt succeeds").toEqual(["again", "again", "again"]);
  expect(bodies("/broken"), "a message must be sent three times, and no more, to a service that answers with 5xx").toEqual(["hopeless", "hopeless", "hopeless"]);
  expect(bodies("/hangs-up"), "a message must be sent three times, and no more, to a service that hangs up").toEqual(["hello?", "hello?", "hello?"]);
  expect(all, "a third attempt that succeeds makes the delivery delivered, with its answer; one that fails makes it failed, without one").toEqual(
    expect.arrayContaining([
      { url: `${origin}/recovers`, message: "again", status: "delivered", answer: "answer 3 to again" },
      { url: `${origin}/broken`, message: "hopeless", status: "failed" },
      { url: `${origin}/hangs-up`, message: "hello?", status: "failed" },
    ]),
  );
});

test("any other status than 2xx is a failure, and the delivery is pending until the third", async () => {
  const between: string[] = [];
  answer = (_, response) => {
    // A status without a body, which no client follows anywhere.
    void deliveries().then((all) => {
      between.push(...all.map(({ status }) => status as string));
      response.writeHead(304).end();
    });
  };
  await send("/not-modified", "news");
  const all = await done("the delivery that is answered with status 304 to be done");
  expect(all, "a delivery that is answered with status 304 three times must have failed").toEqual([
    { url: `${origin}/not-modified`, message: "news", status: "failed" },
  ]);
  expect(between, "a delivery must be pending whenever one of its three attempts is under way").toEqual(["pending", "pending", "pending"]);
});

test("two requests are under way at the same time, and never more", async () => {
  const open = new Set<ServerResponse>();
  let most = 0;
  /** A pair is kept waiting while the backend handles other calls, so that a third request has the time to arrive. */
  const answerLater = async () => {
    for (let calls = 0; calls < 15; calls += 1) await deliveries();
    for (const waiting of open) waiting.end("ok");
    open.clear();
  };
  answer = (_, response) => {
    open.add(response);
    most = Math.max(most, open.size);
    if (open.size === 2) void answerLater();
  };
  await Promise.all([send("/slow", "a1", "a2", "a3"), send("/slow", "b1", "b2", "b3")]);
  const all = await done("six messages to be sent, two at a time");
  expect(most, "six messages from two calls of `send` must be sent two at a time").toBe(2);
  expect(all.map(({ status }) => status as string), "all six messages must be delivered").toEqual(Array.from({ length: 6 }, () => "delivered"));
  expect(received.map(({ body }) => body).toSorted(), "each of six messages must be sent once").toEqual(["a1", "a2", "a3", "b1", "b2", "b3"]);
});

test("no messages are no work, and an empty message is refused together with the others", async () => {
  expect(await send("/hook"), "`send` of no messages must return no ids").toEqual([]);
  await expectError(send("/hook", "first", "", "third"), "An empty message must be refused with an error");
  expect(await deliveries(), "nothing may be stored when one of the messages is empty").toEqual([]);
  await send("/hook", "last");
  await done("the message after the refused ones to be sent");
  expect(received.map(({ body }) => body), "nothing may be sent when one of the messages is empty").toEqual(["last"]);
});
