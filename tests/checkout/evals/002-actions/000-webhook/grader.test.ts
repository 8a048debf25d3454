import { createHash } from "crypto";
import { beforeAll, expect, test, vi } from "vitest";
import { clearTables, compareFunctionSpec, compareSchema, httpAdminClient, listTable, siteUrl } from "../../../grader";
import { internal } from "./answer/convex/_generated/api";

const BODY = JSON.stringify({ item: "green tea", count: 3 });
let created: Response;

beforeAll(async () => {
  await clearTables("orders");
  created = await fetch(`${siteUrl}/orders`, { method: "POST", body: BODY, headers: { "content-type": "application/json" } });
});

test("compare schema", compareSchema);

test("compare function spec", compareFunctionSpec);

test("an order is created", async () => {
  expect(created.status).toBe(201);
  const { id } = await created.json();
  await vi.waitFor(async () => expect(await listTable("orders")).toHaveLength(1), { timeout: 2000 });
  const digest = createHash("sha256").update(BODY).digest("hex");
  expect(await listTable("orders")).toMatchObject([{ _id: id, item: "green tea", count: 3, digest }]);
});

test("orders are listed", async () => {
  const response = await fetch(`${siteUrl}/orders/green%20tea`);
  expect(response.headers.get("content-type")).toContain("application/json");
  expect(await response.json()).toEqual([3]);
  expect((await fetch(`${siteUrl}/elsewhere`)).status).toBe(404);
});

test("the digest comes from Node.js", async () => {
  const digest = await httpAdminClient().action(internal.digest.sha256 as any, { text: "" });
  expect(digest).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});
