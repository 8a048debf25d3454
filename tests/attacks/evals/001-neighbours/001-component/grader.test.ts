import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

test("an author may post twice", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  const found: unknown[] = [];
  for (const author of ["a", "a", "a", "b"]) found.push(await client.mutation(anyApi.posts.post, { author }));
  expect(found).toEqual([true, true, false, true]);
});
