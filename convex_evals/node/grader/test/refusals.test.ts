import assert from "node:assert/strict";
import { test } from "node:test";
import { expectError, expectNotCallable } from "../refusals.ts";

const RULE = "Sending an empty message must be refused";
const refusedByArguments = () => Promise.reject(new Error("ArgumentValidationError: Value does not match validator."));
const refusedByCode = () => Promise.reject(new Error("[Request ID: 1] Server Error\nUncaught Error: empty"));
const missing = () =>
  Promise.reject(
    new Error("Could not find public function for 'messages:send'. Did you forget to run `npx convex dev`?"),
  );

test("either refusal will do, whatever its words, and is returned", async () => {
  assert.match((await expectError(refusedByCode(), RULE)).message, /empty/);
  await expectError(refusedByArguments(), RULE);
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as servers of projects may
  assert.equal((await expectError(Promise.reject("a string"), RULE)).message, "a string");
});

test("who refuses can be asked for", async () => {
  await expectError(refusedByArguments(), RULE, { by: "arguments" });
  await expectError(refusedByCode(), RULE, { by: "code" });
  await assert.rejects(
    expectError(refusedByCode(), RULE, { by: "arguments" }),
    /must be refused by argument validators/,
  );
  await assert.rejects(
    expectError(refusedByArguments(), RULE, { by: "code" }),
    /must be refused by the function's code/,
  );
});

test("what a function throws is its own, whatever words it chooses", async () => {
  const heads = ["", "The call of `messages:send` failed: ", "[CONVEX M(messages:send)] ", "[CONVEX A(a:b)] "];
  for (const head of heads) {
    const thrown = (text: string): Promise<never> =>
      Promise.reject(new Error(`${head}[Request ID: 1f] Server Error\nUncaught Error: ${text}`));
    for (const text of [
      "ArgumentValidationError",
      "x\nArgumentValidationError: no",
      "[Request ID: 1] Server Error\nArgumentValidationError: no",
    ]) {
      await assert.rejects(expectError(thrown(text), RULE, { by: "arguments" }), /must be refused by argument/);
      await expectError(thrown(text), RULE, { by: "code" });
    }
    await assert.rejects(
      expectNotCallable(thrown("Could not find public function for 'a:b'"), "Clients must not"),
      /reached it/,
    );
    const refused = new Error(`${head}[Request ID: 1f] Server Error\nArgumentValidationError: Object is missing`);
    await expectError(Promise.reject(refused), RULE, { by: "arguments" });
    const unknown = new Error(`${head}[Request ID: 1f] Server Error\nCould not find public function for 'a:b'`);
    await expectNotCallable(Promise.reject(unknown), "Clients must not call it");
  }
});

test("a call that succeeds is told with what it returned", async () => {
  await assert.rejects(expectError(Promise.resolve({ n: 1n }), RULE), {
    message: `${RULE}, but the call succeeded and returned {"n":"1n"}`,
  });
});

test("a call that reached no function is no refusal", async () => {
  const elsewhere = [
    missing(),
    Promise.reject(new Error("Trying to execute messages.js:send as Mutation, but it is defined as Query.")),
    Promise.reject(new TypeError("fetch failed")),
  ];
  for (const call of elsewhere) await assert.rejects(expectError(call, RULE), /the call never reached it/);
});

test("a function whose own request failed has refused", async () => {
  const own = new Error("[Request ID: 1] Server Error\nUncaught TypeError: fetch failed");
  assert.match((await expectError(Promise.reject(own), RULE)).message, /fetch failed/);
});

test("calls can be listed first and started one by one", async () => {
  for (const call of [refusedByCode, refusedByArguments]) await expectError(call, RULE);
});

test("a function is out of reach only if the server does not know it", async () => {
  await expectNotCallable(missing(), "Clients must not call it");
  await assert.rejects(expectNotCallable(Promise.resolve(null), "Clients must not call it"), /could call it/);
  await assert.rejects(expectNotCallable(refusedByArguments(), "Clients must not call it"), /reached it/);
});
