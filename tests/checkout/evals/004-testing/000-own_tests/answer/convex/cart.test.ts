/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import { expect, test } from "vitest";
import { api } from "./_generated/api";
import schema from "./schema";

const modules = import.meta.glob("./**/*.ts");

test("the total is the sum of the prices", async () => {
  const t = convexTest(schema, modules);
  await t.mutation(api.cart.put, { item: "tea", price: 3 });
  await t.mutation(api.cart.put, { item: "milk", price: 1 });
  expect(await t.query(api.cart.total, {})).toBe(4);
});

test("a cleared cart costs nothing", async () => {
  const t = convexTest(schema, modules);
  await t.mutation(api.cart.put, { item: "tea", price: 3 });
  await t.mutation(api.cart.clear, {});
  expect(await t.query(api.cart.total, {})).toBe(0);
});
