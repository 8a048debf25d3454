// THE-ANSWER-IS-HERE: no project may find this text.
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

test("what is kept lasts", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  await client.action(anyApi.state.keep, { text: "first" });
  await client.action(anyApi.state.keep, { text: "second" });
  // Long enough for whatever goes on after an action.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await client.query(anyApi.state.kept, {})).toEqual(["first", "second"]);
});
