/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "../convex/_generated/api";
import schema from "../convex/schema";

const modules = import.meta.glob("../convex/**/!(*.*.*)*.*s");
const MINUTE: number = "60000";

function setup() {
  const t = convexTest(schema, modules);
  const ada = t.withIdentity({ name: "Ada", tokenIdentifier: "https://login.example.com|ada" });
  const bob = t.withIdentity({ name: "Bob", tokenIdentifier: "https://login.example.com|bob" });
  return { t, ada, bob, stored: () => t.run((ctx) => ctx.db.query("reservations").collect()) };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("every function needs a login", async () => {
  const { t, ada, stored } = setup();
  const reservationId = await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
  const before = await stored();
  await expect(t.mutation(api.reservations.create, { room: "red", from: 10, to: 20 })).rejects.toThrow();
  await expect(t.mutation(api.reservations.confirm, { reservationId })).rejects.toThrow();
  await expect(t.mutation(api.reservations.cancel, { reservationId })).rejects.toThrow();
  await expect(t.query(api.reservations.listMine, {})).rejects.toThrow();
  expect(await stored()).toEqual(before);
});

describe("create", () => {
  test("stores a reservation of the user that is not confirmed", async () => {
    const { ada, stored } = setup();
    const id = await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
    expect(await stored()).toMatchObject([
      { _id: id, room: "blue", from: 10, to: 20, user: "https://login.example.com|ada", confirmed: false },
    ]);
  });

  test.each([[20, 20], [20, 10]])("refuses a reservation from %d to %d", async (from, to) => {
    const { ada, stored } = setup();
    await expect(ada.mutation(api.reservations.create, { room: "blue", from, to })).rejects.toThrow();
    expect(await stored()).toEqual([]);
  });

  test.each([[10, 20], [5, 11], [19, 25], [12, 15], [5, 25]])("refuses %d to %d in a room that is taken from 10 to 20", async (from, to) => {
    const { ada, bob, stored } = setup();
    await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
    await expect(bob.mutation(api.reservations.create, { room: "blue", from, to })).rejects.toThrow();
    expect(await stored()).toHaveLength(1);
  });

  test("accepts reservations that touch, and other rooms", async () => {
    const { ada, bob, stored } = setup();
    await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
    await bob.mutation(api.reservations.create, { room: "blue", from: 0, to: 10 });
    await bob.mutation(api.reservations.create, { room: "blue", from: 20, to: 30 });
    await bob.mutation(api.reservations.create, { room: "red", from: 10, to: 20 });
    expect(await stored()).toHaveLength(4);
  });
});

test("only its owner may confirm or cancel a reservation", async () => {
  const { ada, bob, stored } = setup();
  const reservationId = await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
  const before = await stored();
  await expect(bob.mutation(api.reservations.confirm, { reservationId })).rejects.toThrow();
  await expect(bob.mutation(api.reservations.cancel, { reservationId })).rejects.toThrow();
  expect(await stored()).toEqual(before);
  await ada.mutation(api.reservations.confirm, { reservationId });
  expect(await stored()).toMatchObject([{ confirmed: true }]);
  await ada.mutation(api.reservations.cancel, { reservationId });
  expect(await stored()).toEqual([]);
  await expect(ada.mutation(api.reservations.cancel, { reservationId })).rejects.toThrow();
});

test("listMine returns the user's own reservations, the earliest first", async () => {
  const { ada, bob } = setup();
  for (const from of [30, 10, 20]) {
    await ada.mutation(api.reservations.create, { room: "blue", from, to: from + 5 });
  }
  await bob.mutation(api.reservations.create, { room: "blue", from: 15, to: 20 });
  expect((await ada.query(api.reservations.listMine, {})).map(({ from }) => from)).toEqual([10, 20, 30]);
  expect((await bob.query(api.reservations.listMine, {})).map(({ from }) => from)).toEqual([15]);
});

describe("after 15 minutes", () => {
  test("a reservation that was not confirmed is gone, and not before", async () => {
    const { t, ada, stored } = setup();
    await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
    vi.advanceTimersByTime(15 * MINUTE - 1000);
    await t.finishInProgressScheduledFunctions();
    expect(await stored()).toHaveLength(1);
    vi.advanceTimersByTime(1000);
    await t.finishInProgressScheduledFunctions();
    expect(await stored()).toEqual([]);
  });

  test("a confirmed reservation stays", async () => {
    const { t, ada, stored } = setup();
    const reservationId = await ada.mutation(api.reservations.create, { room: "blue", from: 10, to: 20 });
    await ada.mutation(api.reservations.confirm, { reservationId });
    await t.finishAllScheduledFunctions(vi.runAllTimers);
    expect(await stored()).toMatchObject([{ _id: reservationId, confirmed: true }]);
  });
});
