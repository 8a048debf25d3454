/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import { expect, it } from "vitest";
import { as, seed, tokenOf } from "../test/helpers";
import { api, internal } from "./_generated/api";
import schema from "./schema";

const start = () => convexTest(schema, import.meta.glob("./**/*.ts"));

async function fails(attempt: Promise<unknown>) {
  const failed = await attempt.then(() => false, () => true);
  expect(failed).toBe(true);
}

it("needs a login", async () => {
  const t = start();
  const reservationId = await seed(t, "ada", 1, 2);
  await fails(t.mutation(api.reservations.create, { room: "R9", from: 1, to: 2 }));
  await fails(t.mutation(api.reservations.confirm, { reservationId }));
  await fails(t.mutation(api.reservations.cancel, { reservationId }));
  await fails(t.query(api.reservations.listMine));
});

it("creates and schedules", async () => {
  const t = start();
  const made = Date.now();
  const id = await as(t, "ada").mutation(api.reservations.create, { room: "R1", from: 5, to: 6 });
  const [doc, jobs] = await t.run(async (ctx) => [await ctx.db.get(id), await ctx.db.system.query("_scheduled_functions").collect()] as const);
  expect(doc).toEqual({ _id: id, _creationTime: expect.any(Number), room: "R1", from: 5, to: 6, user: tokenOf("ada"), confirmed: false });
  expect(jobs).toHaveLength(1);
  expect(jobs[0]?.name).toContain("expire");
  expect(jobs[0]?.args).toEqual([{ reservationId: id }]);
  expect(Math.abs((jobs[0]?.scheduledTime ?? 0) - made - 15 * 60_000)).toBeLessThan(5_000);
});

it("lets only the owner confirm", async () => {
  const t = start();
  const reservationId = await seed(t, "ada", 1, 2);
  await fails(as(t, "bob").mutation(api.reservations.confirm, { reservationId }));
  expect((await t.run((ctx) => ctx.db.get(reservationId)))?.confirmed).toBe(false);
  await as(t, "ada").mutation(api.reservations.confirm, { reservationId });
  expect((await t.run((ctx) => ctx.db.get(reservationId)))?.confirmed).toBe(true);
});

it("lets only the owner cancel", async () => {
  const t = start();
  const reservationId = await seed(t, "ada", 1, 2);
  await fails(as(t, "bob").mutation(api.reservations.cancel, { reservationId }));
  expect(await t.run((ctx) => ctx.db.get(reservationId))).not.toBeNull();
  await as(t, "ada").mutation(api.reservations.cancel, { reservationId });
  expect(await t.run((ctx) => ctx.db.get(reservationId))).toBeNull();
});

it("lists in order", async () => {
  const t = start();
  await seed(t, "ada", 7, 8);
  await seed(t, "bob", 6, 7);
  await seed(t, "ada", 3, 4);
  const mine = await as(t, "ada").query(api.reservations.listMine);
  expect(mine.map((one) => one.from)).toStrictEqual([3, 7]);
});

it.each([true, false])("expires, unless it is confirmed (%s)", async (confirmed) => {
  const t = start();
  const reservationId = await seed(t, "ada", 1, 2);
  await t.run((ctx) => ctx.db.patch(reservationId, { confirmed }));
  await t.mutation(internal.reservations.expire, { reservationId });
  expect((await t.run((ctx) => ctx.db.get(reservationId))) !== null).toBe(confirmed);
});
