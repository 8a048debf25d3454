import assert from "node:assert/strict";
import { test } from "node:test";
import type { ValidatorJSON } from "convex/values";
import { functionDifferences } from "../functions.ts";
import type { FunctionSpec } from "../functions.ts";

const STRING: ValidatorJSON = { type: "object", value: { text: { fieldType: { type: "string" }, optional: false } } };
const ANY: ValidatorJSON = { type: "any" };

function functions(...specs: Partial<FunctionSpec>[]): Map<string, FunctionSpec> {
  const complete = specs.map(
    (spec): FunctionSpec => ({
      name: "notes:add",
      type: "mutation",
      visibility: "public",
      args: STRING,
      returns: ANY,
      ...spec,
    }),
  );
  return new Map(complete.map((spec) => [spec.name, spec]));
}

test("by default internal functions and returned values are not compared", () => {
  const answer = functions({ returns: { type: "null" } }, { name: "notes:purge", visibility: "internal" });
  assert.deepEqual(functionDifferences(functions({}), answer), []);
  assert.deepEqual(functionDifferences(functions({}), answer, { publicOnly: false, returns: true }), [
    "the returned value of `notes:add` must be null, not any",
    "there must be a function `notes:purge` (internal mutation)",
  ]);
});

test("further functions are no difference", () => {
  assert.deepEqual(functionDifferences(functions({}, { name: "notes:more" }), functions({})), []);
});

test("a function of another kind is told once, without its arguments", () => {
  assert.deepEqual(functionDifferences(functions({ visibility: "internal", args: ANY }), functions({})), [
    "`notes:add` must be registered as public mutation, not as internal mutation",
  ]);
});

test("missing argument validators are a difference, unless arguments are not compared", () => {
  assert.deepEqual(functionDifferences(functions({ args: ANY }), functions({})), [
    "the arguments of `notes:add` must be { text: string }, not any",
  ]);
  assert.deepEqual(functionDifferences(functions({ args: ANY }), functions({}), { args: false }), []);
});

test("a function without arguments declares that only where the task asks for it", () => {
  const none: ValidatorJSON = { type: "object", value: {} };
  assert.deepEqual(functionDifferences(functions({ args: ANY }), functions({ args: none })), []);
  assert.deepEqual(functionDifferences(functions({ args: ANY }), functions({ args: none }), { args: "declared" }), [
    "the arguments of `notes:add` must be {}, not any",
  ]);
  assert.equal(functionDifferences(functions({ args: STRING }), functions({ args: none })).length, 1);
});

test("arguments and results are compared by what they accept", () => {
  const object = (optional: boolean): ValidatorJSON => ({
    type: "object",
    value: { text: { fieldType: { type: "string" }, optional } },
  });
  const either: ValidatorJSON = { type: "union", value: [{ type: "object", value: {} }, object(false)] };
  const compare = (found: ValidatorJSON, expected: ValidatorJSON): string[] =>
    functionDifferences(functions({ args: found, returns: found }), functions({ args: expected, returns: expected }), {
      returns: true,
    });
  assert.deepEqual(compare(either, object(true)), []);
  assert.equal(compare(either, object(false)).length, 2);
});
