/** Sums that are rounded once. https://tc39.es/ecma262/#sec-math.sumprecise */

import { uncurried } from "./uncurried.ts";

const number = new Float64Array(1);
const bits = new BigUint64Array(number.buffer);
const inBinary = uncurried(BigInt.prototype.toString);
const toBigInt = BigInt;
const { isSafeInteger } = Number;
const MANTISSA_BITS = 52n;
const MANTISSA = (1n << MANTISSA_BITS) - 1n;
const EXPONENT = 0x7ffn;
const INFINITE_BITS = EXPONENT << MANTISSA_BITS;

export const exactSum = {
  sumPrecise(items: Iterable<unknown>): number {
    if (items === undefined || items === null) throw new TypeError(`${String(items)} is not iterable`);
    const sum = new Sum();
    for (const item of items) {
      if (typeof item !== "number") throw new TypeError(`${typeof item} is not a number`);
      sum.add(item);
    }
    return sum.rounded();
  },
};

class Sum {
  /** Of what was neither zero nor finite: that, or NaN. */
  #special: number | null = null;
  #isMinusZero = true;
  /** The sum is of these two; the second one in units of the smallest number, 2 ** -1074. */
  #integers = 0;
  #units = 0n;
  #isExact = true;

  add(item: number): void {
    if (item === 0 && 1 / item < 0) return;
    this.#isMinusZero = false;
    if (item - item !== 0) {
      this.#special = this.#special === null || this.#special === item ? item : NaN;
      return;
    }
    const integers = this.#integers + item;
    if (isSafeInteger(item) && isSafeInteger(integers)) this.#integers = integers;
    else {
      this.#isExact = false;
      this.#units += unitsOf(item);
    }
  }

  rounded(): number {
    if (this.#special !== null) return this.#special;
    if (this.#isMinusZero) return -0;
    return this.#isExact ? this.#integers : fromUnits(this.#units + unitsOf(this.#integers));
  }
}

function unitsOf(finite: number): bigint {
  number[0] = finite < 0 ? -finite : finite;
  const exponent = bits[0]! >> MANTISSA_BITS;
  const mantissa = bits[0]! & MANTISSA;
  const units = exponent === 0n ? mantissa : (mantissa | (1n << MANTISSA_BITS)) << (exponent - 1n);
  return finite < 0 ? -units : units;
}

/** The nearest number; of two, the even one. */
function fromUnits(units: bigint): number {
  const size = units < 0n ? -units : units;
  const excess = inBinary(size, 2).length - 53;
  bits[0] = excess <= 0 ? size : roundedBits(size, toBigInt(excess));
  return units < 0n ? -number[0]! : number[0]!;
}

function roundedBits(size: bigint, excess: bigint): bigint {
  const half = 1n << (excess - 1n);
  const rest = size & ((1n << excess) - 1n);
  const shortened = size >> excess;
  const up = rest > half || (rest === half && (shortened & 1n) === 1n);
  // A mantissa that is full goes over into the exponent.
  const found = (excess << MANTISSA_BITS) + shortened + (up ? 1n : 0n);
  return found < INFINITE_BITS ? found : INFINITE_BITS;
}
