/** `.filter()`: get-convex/convex-backend crates/common/src/query.rs (Expression::eval) */

import { compareValues, type Value } from "convex/values";
import { formatValue } from "./validator_text.ts";

type MaybeValue = Value | undefined;

/** An expression as `convex/server` serializes it: one operator with its operands. */
export type Expression = Readonly<Record<string, unknown>>;

interface Environment {
  /** The document's field, undefined when it has none. */
  field(path: string): MaybeValue;
  literal(encoded: unknown): MaybeValue;
}

type Arithmetic = readonly [
  name: string,
  floats: (l: number, r: number) => number,
  ints: (l: bigint, r: bigint) => bigint,
];

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  $eq: (order) => order === 0,
  $neq: (order) => order !== 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
};

const ARITHMETIC: Readonly<Record<string, Arithmetic>> = {
  $add: ["add", (l, r) => l + r, (l, r) => l + r],
  $sub: ["subtract", (l, r) => l - r, (l, r) => l - r],
  $mul: ["multiply", (l, r) => l * r, (l, r) => l * r],
  $div: ["divide", (l, r) => l / r, (l, r) => l / r],
  $mod: ["mod", (l, r) => l % r, (l, r) => l % r],
};

/** Whether a filter lets a document through; throws when its result is no boolean. */
export function filterMatches(expression: Expression, environment: Environment): boolean {
  return asBoolean(evaluate(expression, environment));
}

function evaluate(expression: Expression, environment: Environment): MaybeValue {
  const [operator, operand] = Object.entries(expression)[0] ?? ["", undefined];
  if (operator === "$field") return environment.field(operand as string);
  if (operator === "$literal") return environment.literal(operand);
  const inner = (item: unknown): MaybeValue => evaluate(item as Expression, environment);
  const operands = operand as readonly unknown[];
  const comparison = COMPARISONS[operator];
  if (comparison) return comparison(compareValues(inner(operands[0]), inner(operands[1])));
  const arithmetic = ARITHMETIC[operator];
  if (arithmetic) return calculate(arithmetic, inner(operands[0]), inner(operands[1]));
  switch (operator) {
    case "$and":
      return operands.every((item) => asBoolean(inner(item)));
    case "$or":
      return operands.some((item) => asBoolean(inner(item)));
    case "$not":
      return !asBoolean(inner(operand));
    case "$neg":
      return negate(inner(operand));
    default:
      throw new Error(`Invalid filter expression: ${operator}`);
  }
}

function calculate([name, floats, ints]: Arithmetic, left: MaybeValue, right: MaybeValue): MaybeValue {
  if (typeof left === "bigint" && typeof right === "bigint") return BigInt.asIntN(64, ints(left, right));
  if (typeof left === "number" && typeof right === "number") return floats(left, right);
  throw new Error(
    `Cannot ${name} ${formatValue(left)} (type ${typeName(left)}) and ${formatValue(right)} (type ${typeName(right)})`,
  );
}

function negate(value: MaybeValue): MaybeValue {
  if (typeof value === "bigint") return BigInt.asIntN(64, -value);
  if (typeof value === "number") return -value;
  throw new Error(`Cannot negate ${formatValue(value)} (type ${typeName(value)})`);
}

function asBoolean(value: MaybeValue): boolean {
  if (typeof value === "boolean") return value;
  throw new Error(`Cannot use value ${formatValue(value)} (type ${typeName(value)}) as a Boolean`);
}

function typeName(value: MaybeValue): string {
  switch (typeof value) {
    case "undefined":
      return "undefined";
    case "bigint":
      return "Int64";
    case "number":
      return "Float64";
    case "boolean":
      return "Boolean";
    case "string":
      return "String";
    default:
      if (value === null) return "Null";
      if (value instanceof ArrayBuffer) return "Bytes";
      return Array.isArray(value) ? "Array" : "Object";
  }
}
