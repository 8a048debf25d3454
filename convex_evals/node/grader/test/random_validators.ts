/** Random validators, other ways to write them, and values to try them on; the same for the same seed. */
import type { ValidatorJSON } from "convex/values";

export type Json = ValidatorJSON;
type ObjectJson = Extract<Json, { type: "object" }>;

/** A pseudo-random generator (mulberry32) with choices. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below `count`. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % count;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  shuffled<T>(from: readonly T[]): T[] {
    return from
      .map((each) => [this.below(1 << 30), each] as const)
      .sort(([a], [b]) => a - b)
      .map(([, each]) => each);
  }
}

const BYTES = new ArrayBuffer(0);
/** One value, or two, of every kind and literal that `leaf` makes. Ids of `users` begin with "users:". */
export const LEAVES: readonly unknown[] = [null, true, false, 1, 2, 1n, 2n, "x", "y", "z", "users:1", "notes:1", BYTES];
const NAMES = ["a", "b", "c"] as const;

function literal(value: unknown): Json {
  const json = typeof value === "bigint" ? { $integer: `${value}` } : (value as string | number | boolean);
  return { type: "literal", value: json };
}

export function leaf(dice: Dice): Json {
  const simple = ["null", "number", "bigint", "boolean", "string", "bytes", "any"] as const;
  if (dice.chance(45)) return { type: dice.pick(simple) };
  if (dice.chance(25)) return { type: "id", tableName: dice.pick(["users", "notes"]) };
  return literal(dice.pick([true, false, 1, 1n, "x", "y"]));
}

export function objectOf(dice: Dice, field: () => Json): ObjectJson {
  const names = NAMES.filter(() => dice.chance(55));
  return {
    type: "object",
    value: Object.fromEntries(names.map((name) => [name, { fieldType: field(), optional: dice.chance(40) }])),
  };
}

export function unionOf(dice: Dice, member: () => Json, most = 3): Json {
  return { type: "union", value: Array.from({ length: dice.chance(5) ? 0 : 1 + dice.below(most) }, member) };
}

export function randomValidator(dice: Dice, depth: number): Json {
  if (depth === 0) return leaf(dice);
  const inner = (): Json => randomValidator(dice, depth - 1);
  switch (dice.pick(["leaf", "union", "union", "object", "object", "array", "record"] as const)) {
    case "leaf":
      return leaf(dice);
    case "union":
      return unionOf(dice, inner);
    case "object":
      return objectOf(dice, inner);
    case "array":
      return { type: "array", value: inner() };
    case "record": {
      const keys = dice.pick([{ type: "string" }, { type: "id", tableName: "users" }] as const);
      return { type: "record", keys, values: { fieldType: inner(), optional: false } };
    }
  }
}

/** Another way to write what accepts the same. */
export function rewritten(dice: Dice, validator: Json): Json {
  const inner = validator.type === "any" ? validator : parts(dice, validator);
  if (dice.chance(30)) return inner;
  const ways = [() => nested(dice, inner), () => doubled(dice, inner), () => split(dice, inner)];
  return dice.pick(ways)();
}

function parts(dice: Dice, validator: Json): Json {
  switch (validator.type) {
    case "union":
      return { type: "union", value: dice.shuffled(validator.value.map((each) => rewritten(dice, each))) };
    case "array":
      return { type: "array", value: rewritten(dice, validator.value) };
    case "record":
      return { ...validator, values: { fieldType: rewritten(dice, validator.values.fieldType), optional: false } };
    case "object": {
      const fields = dice.shuffled(Object.entries(validator.value));
      const value = fields.map(([name, field]) => [name, { ...field, fieldType: rewritten(dice, field.fieldType) }]);
      return { type: "object", value: Object.fromEntries(value) as ObjectJson["value"] };
    }
    default:
      return validator;
  }
}

function nested(dice: Dice, validator: Json): Json {
  if (validator.type !== "union" || validator.value.length < 2) return { type: "union", value: [validator] };
  const at = 1 + dice.below(validator.value.length - 1);
  const [before, after] = [validator.value.slice(0, at), validator.value.slice(at)];
  return { type: "union", value: [...after, { type: "union", value: before }] };
}

/** With a further member that accepts a part of it. */
function doubled(dice: Dice, validator: Json): Json {
  return { type: "union", value: dice.shuffled([validator, narrowed(dice, validator)]) };
}

function narrowed(dice: Dice, validator: Json): Json {
  switch (validator.type) {
    case "any":
      return randomValidator(dice, 1);
    case "string":
      return dice.chance(50) ? literal("q") : { type: "id", tableName: "users" };
    case "number":
      return literal(1);
    case "array":
      return { type: "array", value: narrowed(dice, validator.value) };
    case "union":
      return { type: "union", value: validator.value.slice(1) };
    case "record":
      return dice.chance(50) ? { type: "object", value: {} } : validator;
    default:
      return validator;
  }
}

/** A field that is optional, or of a union, in two objects instead. */
function split(dice: Dice, validator: Json): Json {
  if (validator.type === "boolean") return { type: "union", value: [literal(true), literal(false)] };
  if (validator.type !== "object") return validator;
  const names = Object.keys(validator.value);
  if (names.length === 0) return validator;
  const name = dice.pick(names);
  const { [name]: field, ...others } = validator.value;
  const { fieldType, optional } = field!;
  const withField = (type: Json, mayMiss: boolean): Json => ({
    type: "object",
    value: { ...others, [name]: { fieldType: type, optional: mayMiss } },
  });
  const variants = [
    ...(optional ? [{ type: "object", value: others } as Json] : []),
    ...(fieldType.type === "union"
      ? fieldType.value.map((each) => withField(each, optional && dice.chance(50)))
      : [withField(fieldType, false)]),
  ];
  return { type: "union", value: dice.shuffled(variants) };
}

/** A value, mostly such as `validator` accepts. */
export function randomValue(dice: Dice, validator: Json, depth = 3): unknown {
  if (depth === 0 || dice.chance(8)) return dice.pick([...LEAVES, [], {}]);
  const inner = (each: Json): unknown => randomValue(dice, each, depth - 1);
  switch (validator.type) {
    case "union":
      return validator.value.length === 0 ? null : inner(dice.pick(validator.value));
    case "array":
      return Array.from({ length: dice.below(3) }, () => inner(validator.value));
    case "record": {
      const keys = dice.chance(50) ? ["a", "c", "d"] : ["users:1", "users:2", "notes:1"];
      const found = keys.filter(() => dice.chance(40));
      return Object.fromEntries(found.map((key) => [key, inner(validator.values.fieldType)]));
    }
    case "object": {
      const fields = Object.entries(validator.value).filter(([, { optional }]) => dice.chance(optional ? 50 : 97));
      const more = dice.chance(5) ? [["d", dice.pick(LEAVES)] as const] : [];
      return Object.fromEntries([...fields.map(([name, { fieldType }]) => [name, inner(fieldType)] as const), ...more]);
    }
    case "any":
      return inner(randomValidator(dice, 1));
    default:
      return dice.pick(LEAVES.filter((value) => accepts(validator, value)));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ArrayBuffer);
}

/** What Convex says of a value, told as plainly as possible. */
export function accepts(validator: Json, value: unknown): boolean {
  switch (validator.type) {
    case "any":
      return true;
    case "null":
      return value === null;
    case "bytes":
      return value instanceof ArrayBuffer;
    case "literal":
      return literalValue(validator.value) === value;
    case "id":
      return typeof value === "string" && value.startsWith(`${validator.tableName}:`);
    case "array":
      return Array.isArray(value) && value.every((each) => accepts(validator.value, each));
    case "union":
      return validator.value.some((each) => accepts(each, value));
    case "record":
      return (
        isObject(value) &&
        Object.entries(value).every(
          ([key, each]) =>
            !/^[_$]/.test(key) && accepts(validator.keys, key) && accepts(validator.values.fieldType, each),
        )
      );
    case "object":
      return (
        isObject(value) &&
        Object.keys(value).every((name) => Object.hasOwn(validator.value, name)) &&
        Object.entries(validator.value).every(([name, { fieldType, optional }]) =>
          Object.hasOwn(value, name) ? accepts(fieldType, value[name]) : optional,
        )
      );
    default:
      return typeof value === validator.type;
  }
}

function literalValue(value: unknown): unknown {
  return isObject(value) ? BigInt(value["$integer"] as string) : value;
}
