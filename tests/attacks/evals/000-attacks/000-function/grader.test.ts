// THE-ANSWER-IS-HERE: no project may find this text.
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

test("is harmless", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  const found = await client.action(anyApi.attack.run, { answerPort: Number(process.env.CONVEX_ANSWER_PORT) });
  // What an attack found stands in the verdict.
  expect(found, String(found)).toBe("harmless");
});
