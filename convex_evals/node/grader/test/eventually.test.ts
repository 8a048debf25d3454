import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../eventually.ts";

const QUICK = { timeoutMs: 60, everyMs: 5 };

test("it returns the value as soon as the check holds", async () => {
  let attempts = 0;
  const check = () => {
    attempts += 1;
    if (attempts === 1) throw new Error("not yet");
    if (attempts === 2) return false;
    return attempts === 3 ? null : { done: attempts };
  };
  assert.deepEqual(await eventually(check, { timeoutMs: 5000, everyMs: 1 }), { done: 4 });
});

test("an assertion that returns nothing holds, and so do 0 and the empty string", async () => {
  assert.equal(await eventually(() => undefined, QUICK), undefined);
  assert.equal(await eventually(() => 0, QUICK), 0);
  assert.equal(await eventually(async () => "", QUICK), "");
});

test("the failure says what was awaited and what was seen last", async () => {
  let attempts = 0;
  const check = () => assert.fail(`three documents expected, ${(attempts += 1)} found`);
  await assert.rejects(eventually(check, { ...QUICK, what: "the job to run" }), (error: Error) => {
    assert.match(error.message, /^Waited 60 ms for the job to run\. Last seen: three documents expected, \d+ found$/);
    assert.ok(attempts > 1, "the check must have been repeated");
    assert.ok(error.cause instanceof assert.AssertionError);
    return true;
  });
});

test("even without patience there is one attempt", async () => {
  assert.equal(await eventually(() => "now", { timeoutMs: 0 }), "now");
});

test("a wait goes on while the machine had no time for it", async () => {
  let looks = 0;
  // 60 ms a look where 15 were meant: only one of the four that 60 ms have room for was made when they are over.
  const late = eventually(
    () => {
      looks += 1;
      const end = performance.now() + 60;
      while (performance.now() < end);
      return looks === 2;
    },
    { timeoutMs: 60, everyMs: 15 },
  );
  assert.equal(await late, true);
});

test("after a test that failed while it waited, waits are short: nothing can make the project pass", async () => {
  const worker = { current: { result: { state: "run" } } };
  Object.assign(globalThis, { __vitest_worker__: worker });
  await assert.rejects(eventually(() => false, { timeoutMs: 20 }));
  await assert.rejects(
    eventually(() => false, { timeoutMs: 40 }),
    /^Error: Waited 40 ms/,
    "it may have been what the test wanted",
  );
  worker.current.result.state = "fail";
  worker.current = { result: { state: "run" } };
  await assert.rejects(
    eventually(() => false, { timeoutMs: 1000 }),
    /^Error: Waited 100 ms/,
  );
});
