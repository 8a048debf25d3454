import { anyApi } from "convex/server";
import { anonymousClient, expectError } from "convex-evals/grader";
import { expect, test } from "vitest";

test("greets by name", async () => {
  expect(await anonymousClient().query(anyApi.greetings.greet, { name: "Ada" })).toBe("Hello, Ada!");
});

test("greets a stranger when the name is empty", async () => {
  expect(await anonymousClient().query(anyApi.greetings.greet, { name: "" })).toBe("Hello, stranger!");
});

test("refuses a name that is not a string", async () => {
  await expectError(anonymousClient().query(anyApi.greetings.greet, { name: 7 }), "a greeting of a number");
});
