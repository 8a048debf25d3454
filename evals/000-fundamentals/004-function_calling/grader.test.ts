import {
  addDocuments,
  anonymousClient,
  clearTables,
  closeAfterRun,
  eventually,
  expectError,
  expectFunctions,
  expectSameSchema,
  listCallable,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const PRICE = 1250;

const visitor = anonymousClient();

interface PaymentRequest {
  method: string;
  body: unknown;
}

/** What the payment service was asked in this test. */
const asked: PaymentRequest[] = [];
/** What happens while the payment service thinks. */
let meanwhile: () => Promise<void> = () => Promise.resolve();
let service = "";

/** Holds replies back until so many purchases wait for one. */
function heldUntil(count: number): () => Promise<void> {
  let waiting = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  // A project that asks less often than it should must not wait for ever.
  const limit = setTimeout(() => open(), 1500);
  return () => {
    waiting += 1;
    if (waiting === count) {
      clearTimeout(limit);
      open();
    }
    return opened;
  };
}

/** The end of the address says how the service answers. */
function answer(path: string, cents: unknown, response: ServerResponse): void {
  switch (path) {
    case "/pays":
      return void response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ paymentId: `payment ${asked.length}` }));
    case "/declines-one-seat":
      return answer(cents === PRICE ? "/declines" : "/pays", cents, response);
    case "/declines":
      return void response.writeHead(402, { "Content-Type": "application/json" }).end(JSON.stringify({ paymentId: "none" }));
    case "/fails":
      return void response.writeHead(500).end("Internal error");
    case "/nonsense":
      return void response.writeHead(200).end("<html>Welcome</html>");
    case "/created":
      return void response.writeHead(201, { "Content-Type": "application/json" }).end(JSON.stringify({ paymentId: "later" }));
    case "/null":
      return void response.writeHead(200, { "Content-Type": "application/json" }).end("null");
    case "/no-id":
      return void response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ paymentId: null }));
    default:
      response.destroy();
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part as string;
  const body = parsed(text);
  asked.push({ method: request.method ?? "", body });
  await meanwhile();
  answer(request.url ?? "", (body as { cents?: unknown } | null)?.cents, response);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

beforeAll(async () => {
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closeAfterRun(() => {
    server.closeAllConnections();
    server.close();
  });
});

beforeEach(async () => {
  asked.length = 0;
  meanwhile = () => Promise.resolve();
  await clearTables("orders", "events");
});

async function makeEvent(freeSeats: number, path = "/pays", name = "Concert"): Promise<Id<"events">> {
  await addDocuments("events", [{ name, priceCents: PRICE, freeSeats, paymentUrl: service + path }]);
  return (await listTable("events")).at(-1)?._id as Id<"events">;
}

function overview(eventId: Id<"events">) {
  return visitor.query(api.orders.overview, { eventId });
}

async function storedOrders() {
  return (await listTable("orders")).map(ownFields);
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("clients can call the two functions, and no others", async () => {
  await expectFunctions({
    "orders:buy": { type: "action", visibility: "public" },
    "orders:overview": { type: "query", visibility: "public" },
  });
  expect(await listCallable(), "clients must be able to call `buy` and `overview` and no other function").toEqual(["orders:buy (action)", "orders:overview (query)"]);
});

test("buy holds the seats, asks for the money, and keeps the seats", async () => {
  const eventId = await makeEvent(10);
  let during: unknown;
  meanwhile = async () => {
    during = { overview: await overview(eventId), orders: await storedOrders() };
  };
  const bought = await visitor.action(api.orders.buy, { eventId, buyer: "Ada", seats: 3 });
  expect(bought, "`buy` must return the status \"paid\" and the `paymentId` of the service").toEqual({ status: "paid", paymentId: "payment 1" });
  expect(during, "while the payment service is asked, the order must be stored as \"held\" and its seats must not be free").toEqual({
    overview: { freeSeats: 7, heldSeats: 3, paidSeats: 0 },
    orders: [{ eventId, buyer: "Ada", seats: 3, status: "held" }],
  });
  const [order] = await listTable("orders");
  expect(asked, "the payment service must get one POST request with the order's id and the price of all its seats").toEqual([
    { method: "POST", body: { orderId: order?._id, cents: 3750 } },
  ]);
  expect(await storedOrders(), "an order that is paid for must be \"paid\" and keep the `paymentId`").toEqual([
    { eventId, buyer: "Ada", seats: 3, status: "paid", paymentId: "payment 1" },
  ]);
  expect(await overview(eventId), "the seats of a paid order must not be free").toEqual({ freeSeats: 7, heldSeats: 0, paidSeats: 3 });
});

test.each([
  ["/declines", "answers with status 402"],
  ["/fails", "answers with status 500"],
  ["/nonsense", "answers with something that is not JSON"],
  ["/created", "answers with status 201"],
  ["/null", "answers with null"],
  ["/no-id", "answers without a `paymentId`"],
  ["/breaks-off", "breaks the connection off"],
])("buy gives the seats back (%s)", async (path, what) => {
  const eventId = await makeEvent(10, path);
  const bought = await visitor.action(api.orders.buy, { eventId, buyer: "Ada", seats: 3 });
  expect(bought, `\`buy\` must return the status "declined" if the payment service ${what}`).toEqual({ status: "declined" });
  expect(await storedOrders(), `the order must be "released" if the payment service ${what}`).toEqual([
    { eventId, buyer: "Ada", seats: 3, status: "released" },
  ]);
  expect(await overview(eventId), `the seats must be free again if the payment service ${what}`).toEqual({ freeSeats: 10, heldSeats: 0, paidSeats: 0 });
});

test("buy of more seats than there are stores nothing and asks nobody", async () => {
  const eventId = await makeEvent(2);
  const bought = await visitor.action(api.orders.buy, { eventId, buyer: "Ada", seats: 3 });
  expect(bought, "`buy` of more seats than are free must return the status \"soldOut\"").toEqual({ status: "soldOut" });
  expect(await storedOrders(), "`buy` of more seats than are free must store no order").toEqual([]);
  expect(asked, "`buy` of more seats than are free must not ask the payment service").toEqual([]);
  const last = await visitor.action(api.orders.buy, { eventId, buyer: "Ada", seats: 2 });
  expect(last, "`buy` of all free seats must be possible").toMatchObject({ status: "paid" });
  expect(await overview(eventId), "after `buy` of all free seats none may be left").toEqual({ freeSeats: 0, heldSeats: 0, paidSeats: 2 });
});

test("buy refuses numbers of seats that make no sense, and events that do not exist", async () => {
  const gone = await makeEvent(5);
  await clearTables("events");
  const eventId = await makeEvent(5);
  for (const seats of [0, -1, 1.5]) {
    await expectError(visitor.action(api.orders.buy, { eventId, buyer: "Ada", seats }), `\`buy\` of ${seats} seats must be refused`);
  }
  await expectError(visitor.action(api.orders.buy, { eventId: gone, buyer: "Ada", seats: 1 }), "`buy` for an event that does not exist must be refused");
  expect(await storedOrders(), "a `buy` that is refused must store no order").toEqual([]);
  expect(asked, "a `buy` that is refused must not ask the payment service").toEqual([]);
  expect(await overview(eventId), "a `buy` that is refused must change nothing").toEqual({ freeSeats: 5, heldSeats: 0, paidSeats: 0 });
  expect(await overview(gone), "`overview` of an event that does not exist must return null").toBeNull();
});

test("overview counts the orders of its event", async () => {
  const [other, eventId] = [await makeEvent(50, "/pays", "Play"), await makeEvent(40)];
  const order = { buyer: "Ada", seats: 1, eventId };
  await addDocuments("orders", [
    { ...order, seats: 2, status: "held" },
    { ...order, seats: 3, status: "paid", paymentId: "p1" },
    { ...order, seats: 5, status: "held" },
    { ...order, seats: 7, status: "released" },
    { ...order, seats: 11, status: "paid", paymentId: "p2" },
    { ...order, seats: 13, status: "paid", paymentId: "p3", eventId: other },
  ]);
  const expected = { freeSeats: 40, heldSeats: 7, paidSeats: 14 };
  expect(await overview(eventId), "`overview` must add up the held and the paid orders of its event").toEqual(expected);
});

test("no seat is sold twice", async () => {
  // Calls that are meant to meet do not always: from the second round on, their connections are open already.
  for (let round = 1; round <= 5; round += 1) {
    const eventId = await makeEvent(7);
    asked.length = 0;
    const bought = await Promise.all(
      Array.from({ length: 10 }, (_, index) => visitor.action(api.orders.buy, { eventId, buyer: `Buyer ${index}`, seats: 2 })),
    );
    expect(
      bought.map(({ status }) => status).sort(),
      "of ten people who buy 2 of 7 seats at the same time, three must get them and seven must hear \"soldOut\"",
    ).toEqual([...Array.from({ length: 3 }, () => "paid"), ...Array.from({ length: 7 }, () => "soldOut")]);
    expect(asked, "the payment service must be asked for those who get seats, and nobody else").toHaveLength(3);
    expect(await overview(eventId), "after three purchases of 2 seats each, 1 of 7 seats must be free").toEqual({ freeSeats: 1, heldSeats: 0, paidSeats: 6 });
  }
});

test("seats that are given back do not undo what others bought meanwhile", async () => {
  const eventId = await makeEvent(10, "/declines-one-seat");
  meanwhile = async () => {
    meanwhile = () => Promise.resolve();
    await visitor.action(api.orders.buy, { eventId, buyer: "Grace", seats: 4 });
  };
  const declined = await visitor.action(api.orders.buy, { eventId, buyer: "Ada", seats: 1 });
  expect(declined, "`buy` must return the status \"declined\" if the payment service answers with status 402").toEqual({ status: "declined" });
  expect(
    await overview(eventId),
    "after 1 of 10 seats was held and given back, and 4 were bought while it was held, 6 must be free and 4 paid",
  ).toEqual({ freeSeats: 6, heldSeats: 0, paidSeats: 4 });
});

test("the seats add up at every moment", async () => {
  const [paying, declining] = [await makeEvent(100), await makeEvent(100, "/declines", "Play")];
  // A query that fails says so at once; a subscription to it would be waited for.
  const seen = [sum(await overview(paying)), sum(await overview(declining))];
  const events = [paying, declining].map((eventId) => ({ eventId, watch: visitor.watch(api.orders.overview, { eventId }) }));
  for (const { watch } of events) await eventually(() => watch.latest() !== undefined, { what: "the first result of `overview`" });

  let buying = true;
  const look = async (): Promise<void> => {
    while (buying) for (const { eventId } of events) seen.push(sum(await overview(eventId)));
  };
  const looking = look();
  // All take their seats at once, and all get their answers at once: what a purchase does in two steps is long between them.
  const purchases = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((seats) => events.map(({ eventId }) => ({ eventId, buyer: "Ada", seats })));
  meanwhile = heldUntil(purchases.length);
  try {
    await Promise.all(purchases.map((purchase) => visitor.action(api.orders.buy, purchase)));
  } finally {
    buying = false;
    await Promise.allSettled([looking]);
  }
  for (const { watch } of events) {
    await eventually(() => watch.latest()?.heldSeats === 0, { what: "the last result of `overview`" });
    seen.push(...watch.history().map(sum));
    watch.stop();
  }
  expect([...new Set(seen)], "free, held and paid seats must add up to 100 at every moment, whoever looks").toEqual([100]);
});

function sum(numbers: { freeSeats: number; heldSeats: number; paidSeats: number } | null): number {
  return numbers === null ? 0 : numbers.freeSeats + numbers.heldSeats + numbers.paidSeats;
}
