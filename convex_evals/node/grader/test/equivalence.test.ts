import assert from "node:assert/strict";
import { test } from "node:test";
import { v } from "convex/values";
import type { GenericValidator } from "convex/values";
import { acceptSameValues, acceptsAllOf } from "../equivalence.ts";
import {
  accepts,
  Dice,
  leaf,
  LEAVES,
  objectOf,
  randomValidator,
  randomValue,
  rewritten,
  unionOf,
} from "./random_validators.ts";
import type { Json } from "./random_validators.ts";

function json(validator: GenericValidator): Json {
  return (validator as unknown as { json: Json }).json;
}

const a = { a: v.string() };
const kind = { kind: v.union(v.literal("x"), v.literal("y")) };

test("what accepts the same values is the same, however written", () => {
  const same: [GenericValidator, GenericValidator][] = [
    [v.union(v.object({}), v.object(a)), v.object({ a: v.optional(v.string()) })],
    [
      v.union(v.object({ ...a, b: v.null() }), v.object({ b: v.null() })),
      v.object({ a: v.optional(v.string()), b: v.null() }),
    ],
    [v.object(kind), v.union(v.object({ kind: v.literal("y") }), v.object({ kind: v.literal("x") }))],
    [v.union(v.literal(true), v.literal(false)), v.boolean()],
    [v.union(v.string(), v.literal("x"), v.id("users")), v.string()],
    [v.union(v.any(), v.null()), v.any()],
    [v.union(v.array(v.string()), v.array(v.union(v.string(), v.null()))), v.array(v.union(v.null(), v.string()))],
    [v.union(v.object(a), v.record(v.string(), v.string())), v.record(v.string(), v.string())],
    [v.object({ a: v.optional(v.union()) }), v.object({})],
    [v.object({ a: v.union() }), v.union()],
    [v.record(v.string(), v.union()), v.object({})],
    [v.record(v.union() as never, v.string()), v.object({})],
  ];
  for (const [one, other] of same) {
    assert.ok(acceptSameValues(json(one), json(other)), JSON.stringify([json(one), json(other)]));
  }
});

test("what differs by a single value differs", () => {
  const different: [GenericValidator, GenericValidator][] = [
    [v.union(v.object({}), v.object(a)), v.object(a)],
    [v.array(v.union(v.string(), v.null())), v.union(v.array(v.string()), v.array(v.null()))],
    [v.array(v.union(v.object(a), v.object({}))), v.union(v.object(a), v.array(v.object({})))],
    [
      v.object({ ...kind, a: v.optional(v.string()) }),
      v.union(v.object({ kind: v.literal("x"), ...a }), v.object({ kind: v.literal("y") })),
    ],
    [v.record(v.string(), v.any()), v.any()],
    [v.union(v.record(v.string(), v.null()), v.object({ _a: v.null() })), v.record(v.string(), v.null())],
    [v.record(v.id("users"), v.null()), v.record(v.id("notes"), v.null())],
    [
      v.record(v.string(), v.union(v.null(), v.string())),
      v.union(v.record(v.string(), v.null()), v.record(v.string(), v.string())),
    ],
    [v.union(v.id("users"), v.id("notes")), v.string()],
    [v.literal(1), v.literal("1")],
    [v.literal(1n), v.literal(1)],
    [v.object({ "a: null, b": v.null() } as never), v.object({ a: v.null(), b: v.null() })],
  ];
  for (const [one, other] of different) {
    assert.ok(!acceptSameValues(json(one), json(other)), JSON.stringify([json(one), json(other)]));
    assert.ok(!acceptSameValues(json(other), json(one)), JSON.stringify([json(one), json(other)]));
  }
});

test("a kind that is not known is like itself, and any accepts it", () => {
  const [one, other] = [
    { type: "point", of: 2 },
    { type: "point", of: 3 },
  ] as unknown as [Json, Json];
  assert.ok(acceptSameValues({ type: "union", value: [one, other] }, { type: "union", value: [other, one, one] }));
  assert.ok(!acceptSameValues(one, other));
  assert.ok(acceptsAllOf({ type: "any" }, one) && !acceptsAllOf(one, { type: "any" }));
});

test("validators that would take too long to take apart are compared as they are written", () => {
  const dice = new Dice(1);
  const boolean = (value?: boolean): Json => (value === undefined ? { type: "boolean" } : { type: "literal", value });
  const objectWith = (values: ReadonlyMap<number, boolean>): Json => {
    const fields = Array.from({ length: 30 }, (_, at) => [
      `f${at}`,
      { fieldType: boolean(values.get(at)), optional: false },
    ]);
    return { type: "object", value: Object.fromEntries(fields) };
  };
  // A formula of 250 clauses: each object is all that one of them excludes, and together they are everything.
  const excluded = (): Json => objectWith(new Map([1, 2, 3].map(() => [dice.below(30), dice.chance(50)])));
  const pieces: Json = { type: "union", value: Array.from({ length: 250 }, excluded) };
  const started = performance.now();
  assert.ok(!acceptSameValues(objectWith(new Map()), pieces));
  assert.ok(acceptSameValues(pieces, { type: "union", value: pieces.value.toReversed() }));
  assert.ok(performance.now() - started < 5000);
});

const PAIRS = process.env["SOAK"] ? 40_000 : 2000;

test("rewriting changes nothing", () => {
  for (let seed = 0; seed < PAIRS; seed++) {
    const dice = new Dice(seed);
    const validator = randomValidator(dice, 3);
    const other = rewritten(dice, rewritten(dice, validator));
    assert.ok(acceptSameValues(validator, other), `seed ${seed}: ${JSON.stringify([validator, other])}`);
  }
});

test("what is called the same accepts the same, and one that accepts all of another does", () => {
  const seen = { same: 0, within: 0 };
  for (let seed = 0; seed < PAIRS; seed++) {
    const dice = new Dice(seed);
    const [one, other] = similar(dice);
    const [contains, isWithin] = [acceptsAllOf(one, other), acceptsAllOf(other, one)];
    seen.same += contains && isWithin ? 1 : 0;
    seen.within += contains === isWithin ? 0 : 1;
    for (let times = 0; times < 20; times++) {
      const value = randomValue(dice, dice.pick([one, other]));
      const told = `seed ${seed}: ${JSON.stringify([one, other])}`;
      if (contains) assert.ok(!accepts(other, value) || accepts(one, value), told);
      if (isWithin) assert.ok(!accepts(one, value) || accepts(other, value), told);
    }
  }
  assert.ok(seen.same > PAIRS / 20 && seen.within > PAIRS / 20, JSON.stringify(seen));
});

/** Two validators of which one is made of the other, or which are small and of the same few kinds. */
function similar(dice: Dice): [Json, Json] {
  const one = randomValidator(dice, 2);
  const changed = dice.pick([
    (): Json => rewritten(dice, one),
    (): Json => ({ type: "union", value: [one, randomValidator(dice, 2)] }),
    (): Json => unionOf(dice, () => objectOf(dice, () => leaf(dice))),
    (): Json => randomValidator(dice, 1),
  ])();
  return [one, changed];
}

test("what is called different differs by a value", () => {
  const fields = [undefined, ...LEAVES];
  const objects = fields.flatMap((first) =>
    fields.map((second) => ({
      ...(first === undefined ? {} : { a: first }),
      ...(second === undefined ? {} : { b: second }),
    })),
  );
  const seen = { same: 0, different: 0 };
  for (let seed = 0; seed < PAIRS; seed++) {
    const dice = new Dice(seed);
    const one = withoutC(unionOf(dice, () => objectOf(dice, () => unionOf(dice, () => few(dice), 2))));
    const other = dice.chance(50)
      ? withoutC(unionOf(dice, () => objectOf(dice, () => few(dice)), 5))
      : rewritten(dice, one);
    const agree = objects.every((value) => accepts(one, value) === accepts(other, value));
    seen[agree ? "same" : "different"] += 1;
    assert.equal(acceptSameValues(one, other), agree, `seed ${seed}: ${JSON.stringify([one, other])}`);
  }
  assert.ok(Math.min(seen.same, seen.different) > PAIRS / 20, JSON.stringify(seen));
});

/** Few kinds, so that unions of objects often add up to the same. */
function few(dice: Dice): Json {
  const literals = [true, false].map((value): Json => ({ type: "literal", value }));
  return dice.pick<Json>([...literals, { type: "boolean" }, { type: "null" }]);
}

function withoutC(validator: Json): Json {
  if (validator.type === "union") return { type: "union", value: validator.value.map(withoutC) };
  if (validator.type !== "object") return validator;
  const { c: _, ...value } = validator.value;
  return { type: "object", value };
}
