import { anyApi } from "convex/server";
import { anonymousClient, clearTables, expectSameFunctions, expectSameSchema } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";

const client = anonymousClient();

beforeEach(() => clearTables("notes"));

test("the table is as the task says", () => expectSameSchema());

test("the functions are as the task says", () => expectSameFunctions());

test("notes come back, the newest first", async () => {
  for (const text of ["one", "two", "three"]) await client.mutation(anyApi.notes.add, { text });
  expect(await client.query(anyApi.notes.list, {})).toEqual(["three", "two", "one"]);
});
