import assert from "node:assert/strict";
import { test } from "node:test";
import { v } from "convex/values";
import type { GenericValidator, ValidatorJSON } from "convex/values";
import { validatorDifferences } from "../validator_differences.ts";
import { validatorText } from "../validators.ts";

/** What a deployment reports about a validator. */
function json(validator: GenericValidator): ValidatorJSON {
  return (validator as unknown as { json: ValidatorJSON }).json;
}

test("every kind of validator reads like a type", () => {
  const kinds: [GenericValidator, string][] = [
    [v.null(), "null"],
    [v.number(), "number"],
    [v.int64(), "int64"],
    [v.boolean(), "boolean"],
    [v.string(), "string"],
    [v.bytes(), "bytes"],
    [v.any(), "any"],
    [v.literal("open"), '"open"'],
    [v.id("users"), 'Id<"users">'],
    [v.array(v.string()), "string[]"],
    [v.array(v.union(v.string(), v.null())), "(null | string)[]"],
    [v.array(v.union(v.object({}), v.object({ a: v.null() }))), "({ a: null } | {})[]"],
    [v.union(), "never"],
    [v.record(v.string(), v.number()), "Record<string, number>"],
    [v.object({}), "{}"],
    [v.object({ b: v.optional(v.number()), a: v.string() }), "{ a: string, b?: number }"],
    [v.object({ "a: null, b": v.null() } as never), '{ "a: null, b": null }'],
  ];
  for (const [validator, text] of kinds) assert.equal(validatorText(json(validator)), text);
});

test("what accepts the same values has the same text", () => {
  const same: [GenericValidator, GenericValidator][] = [
    [v.union(v.literal("a"), v.literal("b")), v.union(v.literal("b"), v.literal("a"))],
    [v.union(v.literal("a"), v.union(v.null(), v.string())), v.union(v.string(), v.literal("a"), v.null())],
    [v.union(v.string()), v.string()],
    [v.union(v.string(), v.string()), v.string()],
    [v.object({ a: v.number(), b: v.null() }), v.object({ b: v.null(), a: v.float64() })],
  ];
  for (const [one, other] of same) assert.deepEqual(validatorDifferences("it", json(one), json(other)), []);
});

test("differences are told field by field and member by member", () => {
  const candidate = v.object({ name: v.number(), extra: v.null() });
  const expected = v.object({ name: v.string(), age: v.optional(v.number()) });
  assert.deepEqual(validatorDifferences("a user", json(candidate), json(expected)), [
    "a user must have a field `age` (optional number)",
    "a user: the field `name` must be string, not number",
    "a user has a field `extra` that the task does not ask for",
  ]);
  assert.deepEqual(
    validatorDifferences("it", json(v.union(v.null(), v.string())), json(v.union(v.null(), v.number()))),
    ["it must allow number", "it must not allow string"],
  );
  assert.deepEqual(validatorDifferences("it", json(v.any()), json(v.object({}))), ["it must be {}, not any"]);
  const members = v.union(v.null(), v.string(), v.literal("x"));
  assert.deepEqual(validatorDifferences("it", json(members), json(v.union(v.string(), v.boolean()))), [
    "it must allow boolean",
    "it must not allow null",
  ]);
});

test("an optional field differs from a required one, and null from absence", () => {
  const required = json(v.object({ a: v.string() }));
  assert.equal(validatorDifferences("it", json(v.object({ a: v.optional(v.string()) })), required).length, 1);
  assert.equal(validatorDifferences("it", json(v.object({ a: v.union(v.string(), v.null()) })), required).length, 1);
});
