import { ConvexHttpClient } from "convex/browser";
import { expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
test("answers", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  expect(await client.query(api.main.answer, {})).toBe(42);
});
