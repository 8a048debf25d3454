import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

test("answers", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  expect(await client.query(anyApi.ping.ping, {})).toBe("pong");
});
