import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();

type AccountId = Id<"accounts">;

const OPENING = { ada: 1000, bob: 100, cem: 0, dot: 50 };
type Owner = keyof typeof OPENING;
const OWNERS = Object.keys(OPENING) as Owner[];

let accounts: Record<Owner, AccountId>;
/** The id of an account that does not exist any more. */
let gone: AccountId;

async function idOf(owner: string): Promise<AccountId> {
  const account = (await listTable("accounts")).find((each) => each["owner"] === owner);
  if (account === undefined) throw new Error("The table `accounts` must hold what was stored in it");
  return account._id as AccountId;
}

beforeEach(async () => {
  await clearTables("entries", "accounts");
  if ((gone as string | undefined) === undefined) {
    await addDocuments("accounts", [{ owner: "gone", cents: 500 }]);
    gone = await idOf("gone");
    await clearTables("accounts");
  }
  await addDocuments("accounts", OWNERS.map((owner) => ({ owner, cents: OPENING[owner] })));
  accounts = { ada: await idOf("ada"), bob: await idOf("bob"), cem: await idOf("cem"), dot: await idOf("dot") };
});

type Moves = [from: Owner, to: Owner, cents: number][];

/** Asserts that these amounts were moved since the opening, and nothing else happened. */
async function expectMoved(moves: Moves, rule: string): Promise<void> {
  const balances: Record<string, number> = { ...OPENING };
  const entries = moves.flatMap(([from, to, cents]) => {
    balances[from] = (balances[from] ?? 0) - cents;
    balances[to] = (balances[to] ?? 0) + cents;
    return [`${from} ${-cents}`, `${to} ${cents}`];
  });
  const stored = (await listTable("accounts")).map(({ owner, cents }) => [owner, cents] as const);
  expect(Object.fromEntries(stored), `${rule}: the accounts must have these \`cents\``).toEqual(balances);
  const booked = (await listTable("entries")).map(({ accountId, cents }) => {
    const owner = OWNERS.find((each) => accounts[each] === accountId) ?? "another account";
    return `${owner} ${cents as number}`;
  });
  expect(booked.sort(), `${rule}: there must be these \`entries\`, two for each amount that was moved`).toEqual(entries.sort());
}

function transfer(from: AccountId, to: AccountId, cents: number) {
  return visitor.mutation(api.bank.transfer, { from, to, cents });
}

/** The arguments of `split`: an amount for each of these owners. */
function payment(from: Owner, ...shares: [to: Owner, cents: number][]) {
  return { from: accounts[from], shares: shares.map(([to, cents]) => ({ to: accounts[to], cents })) };
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the three functions are public mutations", async () => {
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({ "bank:transfer": publicMutation, "bank:split": publicMutation, "bank:payroll": publicMutation });
});

test("transfer moves an amount", async () => {
  expect(await transfer(accounts.ada, accounts.bob, 250), "`transfer` must return null").toBeNull();
  await expectMoved([["ada", "bob", 250]], "after a `transfer` of 250 from Ada to Bob");
});

test("transfer may empty an account", async () => {
  await transfer(accounts.bob, accounts.cem, 100);
  await expectMoved([["bob", "cem", 100]], "after a `transfer` of all that Bob has");
});

test("transfer refuses what the task forbids", async () => {
  const { ada, bob, cem } = accounts;
  const forbidden: [what: string, from: AccountId, to: AccountId, cents: number][] = [
    ["more than the account has", bob, ada, 101],
    ["an amount of an empty account", cem, ada, 1],
    ["an amount of 0", ada, bob, 0],
    ["a negative amount", ada, bob, -5],
    ["an amount that is not whole", ada, bob, 1.5],
    ["an amount that is not a number (NaN)", ada, bob, Number.NaN],
    ["the same account twice", ada, ada, 10],
    ["a payer that does not exist any more", gone, bob, 10],
    ["a receiver that does not exist any more", ada, gone, 10],
  ];
  for (const [what, from, to, cents] of forbidden) {
    await expectError(transfer(from, to, cents), `\`transfer\` with ${what} must be refused`, { by: "code" });
    await expectMoved([], `after a \`transfer\` with ${what}, which is refused`);
  }
});

test("simultaneous transfers lose nothing", async () => {
  const { ada, bob, cem } = accounts;
  await Promise.all(Array.from({ length: 8 }, () => [transfer(ada, cem, 10), transfer(bob, ada, 5)]).flat());
  const moves: Moves = Array.from({ length: 8 }, (): Moves => [["ada", "cem", 10], ["bob", "ada", 5]]).flat();
  await expectMoved(moves, "after eight simultaneous transfers from Ada to Cem and eight from Bob to Ada");
});

test("simultaneous transfers do not overdraw an account", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => transfer(accounts.bob, accounts.cem, 40)));
  const made = outcomes.filter(({ status }) => status === "fulfilled").length;
  expect(made, "of six simultaneous transfers of 40 from an account with 100 exactly two must be made").toBe(2);
  await expectMoved([["bob", "cem", 40], ["bob", "cem", 40]], "after six simultaneous transfers of which two are possible");
});

test("split moves all shares", async () => {
  const returned = await visitor.mutation(api.bank.split, payment("ada", ["bob", 300], ["cem", 200], ["bob", 50]));
  expect(returned, "`split` must return null").toBeNull();
  await expectMoved([["ada", "bob", 300], ["ada", "cem", 200], ["ada", "bob", 50]], "after a `split` in three shares, two of them for Bob");
});

test("split may empty an account, and may be without shares", async () => {
  await visitor.mutation(api.bank.split, payment("bob", ["ada", 60], ["cem", 40]));
  expect(await visitor.mutation(api.bank.split, payment("cem")), "`split` without shares must return null").toBeNull();
  await expectMoved([["bob", "ada", 60], ["bob", "cem", 40]], "after a `split` of all that Bob has and one without shares");
});

test("split moves all shares or none", async () => {
  const refused: Record<string, ReturnType<typeof payment>> = {
    "more than the account has in the last share": payment("bob", ["ada", 60], ["cem", 40], ["dot", 1]),
    "a negative amount in the second share": payment("ada", ["bob", 10], ["cem", -5]),
    "a share for the account that pays": payment("ada", ["bob", 10], ["ada", 5]),
    "a share for an account that does not exist any more": { from: accounts.ada, shares: [{ to: accounts.bob, cents: 10 }, { to: gone, cents: 10 }] },
  };
  for (const [what, args] of Object.entries(refused)) {
    await expectError(visitor.mutation(api.bank.split, args), `\`split\` with ${what} must be refused`, { by: "code" });
    await expectMoved([], `after a \`split\` with ${what}, which is refused`);
  }
});

test("payroll makes all payments", async () => {
  const payments = [payment("ada", ["bob", 100], ["cem", 100]), payment("dot", ["cem", 50])];
  const made = await visitor.mutation(api.bank.payroll, { payments });
  await expectMoved([["ada", "bob", 100], ["ada", "cem", 100], ["dot", "cem", 50]], "after a `payroll` of two payments");
  expect(made, "`payroll` must return true for each payment that was made").toEqual([true, true]);
  expect(await visitor.mutation(api.bank.payroll, { payments: [] }), "`payroll` without payments must return an empty list").toEqual([]);
});

test("payroll undoes a payment that is refused, and makes the others", async () => {
  const payments = [
    payment("ada", ["bob", 10], ["cem", 10]),
    payment("bob", ["ada", 50], ["cem", 50], ["dot", 50]),
    payment("dot", ["ada", 20]),
    payment("ada", ["bob", 1], ["ada", 1]),
    { from: accounts.ada, shares: [{ to: accounts.bob, cents: 3 }, { to: gone, cents: 3 }] },
    payment("ada", ["dot", 2], ["bob", 0]),
    payment("ada", ["dot", 7]),
  ];
  const made = await visitor.mutation(api.bank.payroll, { payments });
  await expectMoved(
    [["ada", "bob", 10], ["ada", "cem", 10], ["dot", "ada", 20], ["ada", "dot", 7]],
    "after a `payroll` of which the second, fourth, fifth and sixth payment are refused in one of their later shares",
  );
  expect(made, "`payroll` must return true for each payment that was made and false for each that was refused, in their order").toEqual([
    true,
    false,
    true,
    false,
    false,
    false,
    true,
  ]);
});

test("a payment of payroll finds what the ones before it left", async () => {
  const payments = [
    payment("cem", ["dot", 30]),
    payment("bob", ["cem", 80]),
    payment("cem", ["dot", 30]),
    payment("bob", ["cem", 10], ["dot", 80]),
    payment("bob", ["dot", 20]),
  ];
  const made = await visitor.mutation(api.bank.payroll, { payments });
  await expectMoved([["bob", "cem", 80], ["cem", "dot", 30], ["bob", "dot", 20]], "after a `payroll` whose payments depend on each other");
  expect(made, "`payroll` must make each payment with what the payments before it have left").toEqual([false, true, true, false, true]);
});
