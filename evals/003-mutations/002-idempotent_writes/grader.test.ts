import { anonymousClient, expectError, expectFunctions, expectSameSchema, listTable, ownFields } from "convex-evals/grader";
import { expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

type Payment = (typeof api.payments.record)["_args"];

// Every test has a provider and customers of its own, so that none sees what another one left.
let tests = 0;

/** Payments of a provider and for customers that no other test has. */
function shop() {
  tests += 1;
  const provider = `provider ${tests}`;
  const customer = (name: string) => `${name} ${tests}`;
  const payment = (externalId: string, cents: number, name = "Ada"): Payment => ({ provider, externalId, customer: customer(name), cents });
  return { provider, customer, payment };
}

async function paymentsOf(...providers: string[]) {
  return (await listTable("payments")).filter((payment) => providers.includes(payment["provider"] as string));
}

/** The balances in the documents of a customer; one number unless something is wrong. */
async function balancesOf(customer: string) {
  return (await listTable("balances")).filter((balance) => balance["customer"] === customer).map((balance) => balance["cents"] as number);
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("both functions are public mutations", async () => {
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({ "payments:record": publicMutation, "payments:recordMany": publicMutation });
});

test("record inserts a new payment and adds it to the balance", async () => {
  const { provider, customer, payment } = shop();
  const first = await visitor.mutation(api.payments.record, { ...payment("1", 500), raw: "<paid/>" });
  expect(await balancesOf(customer("Ada")), "the first payment of a customer must give one document with its `cents` in `balances`").toEqual([500]);
  const second = await visitor.mutation(api.payments.record, payment("2", 250));
  const stored = await paymentsOf(provider);
  expect(stored.map(ownFields), "`record` must insert each new payment as it was given").toEqual([{ ...payment("1", 500), raw: "<paid/>" }, payment("2", 250)]);
  expect([first, second], "`record` must return the id of the new document and `created: true`").toEqual(
    stored.map(({ _id }) => ({ paymentId: _id, created: true })),
  );
  expect(await balancesOf(customer("Ada")), "the second payment of a customer must be added to the same document").toEqual([750]);
});

test("record of a known payment changes nothing", async () => {
  const { provider, customer, payment } = shop();
  const { paymentId } = await visitor.mutation(api.payments.record, { ...payment("1", 500), raw: "first" });
  const before = await paymentsOf(provider);
  for (const repeat of [payment("1", 500), { ...payment("1", 500), raw: "first" }, { ...payment("1", 500), raw: "another form" }]) {
    const returned = await visitor.mutation(api.payments.record, repeat);
    expect(returned, "`record` of a known payment must return its id and `created: false`, whatever its `raw` is").toEqual({ paymentId, created: false });
  }
  expect(await paymentsOf(provider), "`record` of a known payment must not change `payments`").toEqual(before);
  expect(await balancesOf(customer("Ada")), "`record` of a known payment must not change the balance").toEqual([500]);
});

test("a payment that is reported many times at once is booked once", async () => {
  const { provider, customer, payment } = shop();
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => visitor.mutation(api.payments.record, payment("1", 500))));
  const stored = await paymentsOf(provider);
  expect(stored.length, "twelve simultaneous calls of `record` with one payment must give one document").toBe(1);
  expect(new Set(outcomes.map(({ paymentId }) => paymentId)), "all simultaneous calls must return the id of that document").toEqual(new Set([stored[0]?._id]));
  expect(outcomes.filter(({ created }) => created).length, "exactly one of the simultaneous calls must return `created: true`").toBe(1);
  expect(await balancesOf(customer("Ada")), "a payment that is reported twelve times must be in the balance once").toEqual([500]);
});

test("different payments of one customer at once are all booked", async () => {
  const { customer, payment } = shop();
  await Promise.all(Array.from({ length: 10 }, (_, index) => visitor.mutation(api.payments.record, payment(`${index}`, 100))));
  expect(await balancesOf(customer("Ada")), "ten simultaneous payments of 100 must give one balance of 1000").toEqual([1000]);
});

test("a known payment with other contents is refused", async () => {
  const { provider, customer, payment } = shop();
  await visitor.mutation(api.payments.record, payment("1", 500));
  await visitor.mutation(api.payments.record, payment("2", 10, "Bob"));
  const before = await paymentsOf(provider);
  await expectError(visitor.mutation(api.payments.record, payment("1", 501)), "a known payment with other `cents` must be refused", { by: "code" });
  await expectError(visitor.mutation(api.payments.record, payment("1", 500, "Bob")), "a known payment with another `customer` must be refused", { by: "code" });
  expect(await paymentsOf(provider), "a payment that is refused must change nothing in `payments`").toEqual(before);
  const balances = await Promise.all(["Ada", "Bob"].map((name) => balancesOf(customer(name))));
  expect(balances, "a payment that is refused must not change any balance").toEqual([[500], [10]]);
});

test("two providers may use the same number", async () => {
  const [mine, theirs] = [shop(), shop()];
  const first = await visitor.mutation(api.payments.record, mine.payment("1", 500));
  const other = { ...mine.payment("1", 30), provider: theirs.provider };
  const second = await visitor.mutation(api.payments.record, other);
  expect(second.created, "a payment of another provider with the same `externalId` is another payment and must be inserted").toBe(true);
  const stored = await paymentsOf(mine.provider, theirs.provider);
  expect(stored.map(ownFields), "the payments of both providers must be stored").toEqual([mine.payment("1", 500), other]);
  expect(await balancesOf(mine.customer("Ada")), "the payments of both providers must be in the customer's balance").toEqual([530]);
  const repeats = [await visitor.mutation(api.payments.record, mine.payment("1", 500)), await visitor.mutation(api.payments.record, other)];
  expect(repeats, "the payments of two providers with the same `externalId` must be told apart").toEqual([
    { paymentId: first.paymentId, created: false },
    { paymentId: second.paymentId, created: false },
  ]);
});

test("recordMany books each payment once", async () => {
  const { provider, customer, payment } = shop();
  await visitor.mutation(api.payments.record, payment("1", 500));
  const payments = [payment("1", 500), payment("2", 20), payment("3", 7, "Bob"), payment("2", 20), payment("4", 1)];
  const created = await visitor.mutation(api.payments.recordMany, { payments });
  const numbers = (await paymentsOf(provider)).map(({ externalId }) => externalId as string);
  expect(numbers.sort(), "`recordMany` must insert a payment that is in the list twice once, and one that is known not at all").toEqual(["1", "2", "3", "4"]);
  expect(created, "`recordMany` must return the number of payments that it created").toBe(3);
  const balances = await Promise.all(["Ada", "Bob"].map((name) => balancesOf(customer(name))));
  expect(balances, "`recordMany` must add each new payment to the balance of its customer once").toEqual([[521], [7]]);
  expect(await visitor.mutation(api.payments.recordMany, { payments }), "the same `recordMany` again must create nothing and return 0").toBe(0);
  expect(await balancesOf(customer("Ada")), "the same `recordMany` again must not change the balance").toEqual([521]);
  expect(await visitor.mutation(api.payments.recordMany, { payments: [] }), "`recordMany` without payments must return 0").toBe(0);
});

test("recordMany adds all payments of one customer", async () => {
  const { customer, payment } = shop();
  const payments = ["1", "2", "3"].map((externalId) => payment(externalId, 100));
  await visitor.mutation(api.payments.recordMany, { payments });
  expect(await balancesOf(customer("Ada")), "three new payments of 100 in one list must give one balance of 300").toEqual([300]);
});

test("recordMany books all payments or none", async () => {
  const { provider, customer, payment } = shop();
  await visitor.mutation(api.payments.record, payment("1", 500));
  const before = await paymentsOf(provider);
  const lists = {
    "a known payment with other `cents`": [payment("2", 20), payment("1", 499), payment("3", 5)],
    "two payments with one `externalId` and different `cents`": [payment("2", 20), payment("4", 1), payment("4", 2)],
  };
  for (const [what, payments] of Object.entries(lists)) {
    await expectError(visitor.mutation(api.payments.recordMany, { payments }), `\`recordMany\` with ${what} must be refused`, { by: "code" });
    expect(await paymentsOf(provider), "`recordMany` that is refused must insert no payment").toEqual(before);
    expect(await balancesOf(customer("Ada")), "`recordMany` that is refused must leave the balance as it was").toEqual([500]);
  }
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(name: string, call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => {
    const seen = error instanceof Error ? error.message : String(error);
    const rule = `\`${name}\` must read no other payments than those that it is called with, neither of the same provider nor with the same \`externalId\``;
    throw new Error(`${rule}; the call failed: ${seen}`, { cause: error });
  });
}

test("no function reads other payments", async () => {
  const { provider, customer, payment } = shop();
  // More than Convex lets one function read (16 MiB), so the server stops whoever reads these payments.
  const raw = "x".repeat(900_000);
  const heavy = Array.from({ length: 19 }, (_, index) => ({ ...payment(`heavy ${index}`, 1), raw }));
  for (const payments of [heavy.slice(0, 10), heavy.slice(10)]) await frugal("recordMany", visitor.mutation(api.payments.recordMany, { payments }));
  // Six payments of other providers with one `externalId`: who reads them for each of four others reads too much as well.
  const shared = (name: string) => ({ ...payment("shared", 1), provider: `${provider}, ${name}` });
  const theirs = ["a", "b", "c", "d", "e", "f"].map((name) => ({ ...shared(name), raw }));
  await frugal("recordMany", visitor.mutation(api.payments.recordMany, { payments: theirs }));

  const added = await frugal("record", visitor.mutation(api.payments.record, payment("light", 100)));
  expect(added.created, "`record` of a new payment must insert it, however many there are").toBe(true);
  const known = await frugal("record", visitor.mutation(api.payments.record, payment("heavy 18", 1)));
  expect(known.created, "`record` of a known payment must find it, however many there are").toBe(false);
  const mixed = [payment("light", 100), payment("heavy 0", 1), payment("last", 5)];
  const many = await frugal("recordMany", visitor.mutation(api.payments.recordMany, { payments: mixed }));
  expect(many, "`recordMany` of one new payment and two known ones must return 1").toBe(1);
  const others = await frugal("recordMany", visitor.mutation(api.payments.recordMany, { payments: ["g", "h", "i", "j"].map(shared) }));
  expect(others, "`recordMany` of payments of four other providers with the same `externalId` must create them all").toBe(4);
  expect(await balancesOf(customer("Ada")), "every payment must be in the balance once").toEqual([134]);
});
