import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import type { JsonValue } from "../runtime_types.ts";
import { adopted } from "../runtime/adopt.ts";

test("values of another context get this one's classes, and are what JSON would make of them", () => {
  const text = '{"a":[1,null,{"b":"c","__proto__":{"d":true}}],"constructor":[],"0":"","e":{}}';
  const foreign = vm.runInNewContext(`JSON.parse(${JSON.stringify(text)})`) as JsonValue;
  assert.equal(foreign instanceof Object, false);
  const own = adopted(foreign);
  assert.deepStrictEqual(own, JSON.parse(text));
  assert.ok(own instanceof Object);
});

test("plain values stay", () => {
  for (const value of [null, true, 0, "text"]) assert.equal(adopted(value), value);
});
