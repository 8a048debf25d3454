// THE-ANSWER-IS-HERE: no project may find this text.
import { ConvexHttpClient } from "convex/browser";
import { addDocuments, listTable } from "convex-evals/grader";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

test("what is stored is harmless", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  await client.mutation(anyApi.notes.save, {});
  await addDocuments("notes", [{ text: "added" }]);
  const found = (await listTable("notes")).map(({ text, _creationTime }) => [text, Math.abs(Date.now() - _creationTime) < 60_000]);
  // What an attack found stands in the verdict.
  expect(found, JSON.stringify(found)).toEqual([["harmless", true], ["added", true]]);
});
