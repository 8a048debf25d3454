import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  closeAfterRun,
  expectError,
  expectFunctions,
  expectNotCallable,
  expectSameSchema,
  listCallable,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { api, internal } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const API_KEY = "key_of_the_shop_4711";
const visitor = anonymousClient();
const staff = adminClient();

/** One request as the payment provider saw it. */
interface Asked {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
  body: string;
}

const asked: Asked[] = [];
let paymentUrl = "";
/** What the provider waits for before it answers. */
let gate: Promise<void> = Promise.resolve();

/** Receipts called "paid-N-..." are paid with N credits, "broken-..." fail, all others are not paid. */
function answerTo(body: string): { status: number; text: string } {
  const receipt = (JSON.parse(body) as { receipt?: unknown }).receipt;
  const [kind, credits] = typeof receipt === "string" ? receipt.split("-") : [];
  if (kind === "broken") return { status: 503, text: JSON.stringify({ paid: true, credits: 5 }) };
  return { status: 200, text: JSON.stringify(kind === "paid" ? { paid: true, credits: Number(credits) } : { paid: false }) };
}

beforeAll(async () => {
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      asked.push({ method, path, authorization: headers.authorization, contentType: headers["content-type"], body });
      void gate.then(() => {
        if (headers.authorization !== `Bearer ${API_KEY}`) return response.writeHead(401).end();
        try {
          const { status, text } = answerTo(body);
          return response.writeHead(status, { "Content-Type": "application/json" }).end(text);
        } catch {
          return response.writeHead(400).end();
        }
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfterRun(() => {
    server.closeAllConnections();
    server.close();
  });
  paymentUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/check?shop=7`;
});

beforeEach(async () => {
  await clearTables("payments", "cards", "shop");
  await addDocuments("shop", [{ paymentUrl, apiKey: API_KEY }]);
  asked.length = 0;
  gate = Promise.resolve();
});

/** Stores a card and returns its id. */
async function cardWith(credits: number): Promise<Id<"cards">> {
  await addDocuments("cards", [{ credits }]);
  return (await listTable("cards")).at(-1)?._id as Id<"cards">;
}

/** The id of a card that does not exist any more. */
async function lostCard(): Promise<Id<"cards">> {
  const cardId = await cardWith(3);
  await clearTables("cards");
  return cardId;
}

async function money() {
  return { cards: await listTable("cards"), payments: await listTable("payments") };
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the functions that the task names are registered as described", () =>
  expectFunctions({
    "cards:open": { type: "mutation", visibility: "public" },
    "cards:balance": { type: "query", visibility: "public" },
    "cards:topUp": { type: "action", visibility: "public" },
    "cards:grant": { type: "mutation", visibility: "internal" },
  }));

test("browsers can call open, balance and topUp, and nothing else", async () => {
  expect(await listCallable(), "clients may call these three functions and no others, in any module or over HTTP").toEqual([
    "cards:balance (query)",
    "cards:open (mutation)",
    "cards:topUp (action)",
  ]);
});

test("grant is out of reach for clients", async () => {
  const cardId = await cardWith(1);
  await expectNotCallable(visitor.mutation(internal.cards.grant, { cardId, credits: 100 }), "Clients must not be able to call `grant`");
  expect((await listTable("cards")).map(ownFields), "the card must have the credits that it had").toEqual([{ credits: 1 }]);
});

test("open makes a card without credits", async () => {
  const cardId = await visitor.mutation(api.cards.open, {});
  const cards = await listTable("cards");
  expect(cards.map(({ _id }) => _id), "`open` must insert one card and return its id").toEqual([cardId]);
  expect(cards.map(ownFields), "a new card must have 0 credits").toEqual([{ credits: 0 }]);
});

test("balance returns the card's credits, or null", async () => {
  await cardWith(1);
  const cardId = await cardWith(12);
  await cardWith(3);
  expect(await visitor.query(api.cards.balance, { cardId }), "`balance` must return the credits of this card").toBe(12);
  const empty = await visitor.mutation(api.cards.open, {});
  expect(await visitor.query(api.cards.balance, { cardId: empty }), "`balance` of a new card must be 0").toBe(0);
  expect(await visitor.query(api.cards.balance, { cardId: await lostCard() }), "`balance` of a card that does not exist must be null").toBeNull();
});

test("topUp adds the credits of a paid receipt", async () => {
  await cardWith(1);
  const cardId = await cardWith(2);
  const receipt = `paid-50-"quoted" ü`;
  expect(await visitor.action(api.cards.topUp, { cardId, receipt }), "`topUp` must return the card's new number of credits").toBe(52);
  expect((await listTable("cards")).map(ownFields), "`topUp` must add the credits to this card only").toEqual([{ credits: 1 }, { credits: 52 }]);
  expect((await listTable("payments")).map(ownFields), "`topUp` must insert the payment").toEqual([{ cardId, receipt, credits: 50 }]);
  expect(await visitor.action(api.cards.topUp, { cardId, receipt: "paid-8-b" }), "a second receipt must be added to the first").toBe(60);
});

test("topUp asks the payment provider as described", async () => {
  const cardId = await cardWith(0);
  await visitor.action(api.cards.topUp, { cardId, receipt: "paid-1-ask" });
  expect(asked.length, "the provider must be asked").toBeGreaterThan(0);
  for (const { method, path, authorization, contentType, body } of asked) {
    expect({ method, path, authorization }, "the provider must be asked by POST at `paymentUrl`, with the shop's `apiKey`").toEqual({
      method: "POST",
      path: "/v2/check?shop=7",
      authorization: `Bearer ${API_KEY}`,
    });
    expect(contentType, "the request must have the content type of JSON").toMatch(/^application\/json\b/);
    expect(JSON.parse(body), "the request's body must hold the receipt and nothing else").toEqual({ receipt: "paid-1-ask" });
  }
});

test("topUp refuses receipts that are not paid, and an answer other than 200", async () => {
  const cardId = await cardWith(7);
  const before = await money();
  await expectError(visitor.action(api.cards.topUp, { cardId, receipt: "open-1" }), "`topUp` with a receipt that is not paid must be refused");
  await expectError(visitor.action(api.cards.topUp, { cardId, receipt: "" }), "`topUp` with an empty receipt, which nobody paid, must be refused");
  await expectError(visitor.action(api.cards.topUp, { cardId, receipt: "broken-1" }), "`topUp` must throw when the provider answers with 503");
  expect(await money(), "a refused `topUp` must change nothing").toEqual(before);
});

test("topUp refuses a receipt that was used, for any card", async () => {
  const [first, second] = [await cardWith(0), await cardWith(0)];
  await visitor.action(api.cards.topUp, { cardId: first, receipt: "paid-9-once" });
  const before = await money();
  for (const cardId of [first, second]) {
    await expectError(visitor.action(api.cards.topUp, { cardId, receipt: "paid-9-once" }), "`topUp` with a receipt that was used before must be refused");
  }
  expect(await money(), "a receipt that was used must change nothing").toEqual(before);
});

test("a receipt that is sent several times at once counts once", async () => {
  const cardId = await cardWith(0);
  let open = (): void => undefined;
  gate = new Promise((resolve) => (open = resolve));
  const calls = [1, 2, 3].map(() => visitor.action(api.cards.topUp, { cardId, receipt: "paid-20-twice" }));
  const settling = Promise.allSettled(calls);
  // The provider answers when all have asked, or as soon as one attempt ended without asking.
  void Promise.race(calls.map((call) => call.catch(() => undefined))).then(open);
  const poll = setInterval(() => {
    if (asked.length === calls.length) open();
  }, 5);
  const settled = await settling.finally(() => clearInterval(poll));
  expect(settled.filter(({ status }) => status === "fulfilled").length, "one of three attempts at the same moment must succeed").toBe(1);
  expect((await listTable("cards")).map(ownFields), "the credits must be added once").toEqual([{ credits: 20 }]);
  expect((await listTable("payments")).length, "one payment must be stored").toBe(1);
});

test("different receipts that are sent at once are all added", async () => {
  const cardId = await cardWith(0);
  await Promise.all([1, 2, 4, 8].map((credits) => visitor.action(api.cards.topUp, { cardId, receipt: `paid-${credits}-many` })));
  expect((await listTable("cards")).map(ownFields), "the credits of all four receipts must be on the card").toEqual([{ credits: 15 }]);
});

test("topUp needs a card and a shop", async () => {
  const lost = await lostCard();
  const cardId = await cardWith(1);
  const before = await money();
  await expectError(visitor.action(api.cards.topUp, { cardId: lost, receipt: "paid-5-lost" }), "`topUp` of a card that does not exist must be refused");
  expect(await money(), "`topUp` of a card that does not exist must store neither card nor payment").toEqual(before);
  expect(await visitor.action(api.cards.topUp, { cardId, receipt: "paid-5-lost" }), "the receipt of a failed `topUp` must be good for another card").toBe(6);
  const after = await money();
  await clearTables("shop");
  await expectError(visitor.action(api.cards.topUp, { cardId, receipt: "paid-5-shop" }), "`topUp` must be refused while `shop` has no document");
  expect(await money(), "`topUp` without a shop must change nothing").toEqual(after);
});

test("grant adds credits", async () => {
  const cardId = await cardWith(4);
  await cardWith(1);
  expect(await staff.mutation(internal.cards.grant, { cardId, credits: 6 }), "`grant` must return the card's new number of credits").toBe(10);
  expect((await listTable("cards")).map(ownFields), "`grant` must add the credits to this card only").toEqual([{ credits: 10 }, { credits: 1 }]);
  expect(await listTable("payments"), "`grant` is no payment").toEqual([]);
});

test("grant refuses a lost card and credits that are no whole number greater than 0", async () => {
  const lost = await lostCard();
  const cardId = await cardWith(4);
  const before = await money();
  await expectError(staff.mutation(internal.cards.grant, { cardId: lost, credits: 6 }), "`grant` for a card that does not exist must be refused");
  for (const credits of [0, -1, 2.5, Infinity, NaN]) {
    await expectError(staff.mutation(internal.cards.grant, { cardId, credits }), `\`grant\` of ${credits} credits must be refused`);
  }
  expect(await money(), "a refused `grant` must change nothing").toEqual(before);
});

test("other arguments are refused", async () => {
  const cardId = await cardWith(1);
  await addDocuments("payments", [{ cardId, receipt: "old", credits: 1 }]);
  const before = await money();
  const foreign = before.payments[0]?._id as unknown as Id<"cards">;
  await expectError(visitor.query(api.cards.balance, { cardId: foreign }), "`balance` with the id of a payment must be refused");
  await expectError(visitor.action(api.cards.topUp, { cardId: foreign, receipt: "paid-5-foreign" }), "`topUp` with the id of a payment must be refused");
  const generous = { cardId, receipt: "paid-5-args", credits: 500 };
  await expectError(visitor.action(api.cards.topUp, generous), "`topUp` with an argument `credits` must be refused");
  const number = { cardId, receipt: 5 as unknown as string };
  await expectError(visitor.action(api.cards.topUp, number), "`topUp` with a number as `receipt` must be refused");
  expect(await money(), "refused arguments must change nothing").toEqual(before);
});
