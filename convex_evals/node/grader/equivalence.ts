/**
 * Whether two validators accept the same values, however they are written.
 *
 * Decided exactly for all that Convex's validators can say: unions (nested, in any order, of overlapping members),
 * optional fields, literals beside their types, arrays, records, `any`. Validators are not recursive, so it is enough to
 * take them apart. With these conventions:
 *
 * - an id is a string, but no literal, no name of a field, and no id of another table;
 * - `any` accepts more than every union of all kinds: a newer Convex may have further ones;
 * - a record has no keys that begin with `_` or `$`, nor others than ASCII.
 *
 * Where they do not hold, or a kind is not known here, or there is too much to take apart, validators that differ are still
 * not called the same; some that accept the same may be called different.
 */
import type { ValidatorJSON } from "convex/values";
import { unionMembers, validatorText } from "./validators.ts";

type OfType<T extends ValidatorJSON["type"]> = Extract<ValidatorJSON, { type: T }>;
type Member = Exclude<ValidatorJSON, { type: "union" }>;
type Fields = OfType<"object"> | OfType<"record">;

/** What one field of an object may hold; `absent`: it may be left out. */
interface Field {
  members: Member[];
  absent: boolean;
}

const ABSENT: Field = { members: [], absent: true };
const RECORD_KEY = /^(?![_$])[ -~]+$/;
/** Comparisons of two validators; a schema of hundreds of fields needs some thousands. */
const MOST_STEPS = 50_000;

class TooMany extends Error {}

/** Whether `one` and `other` accept the same values. */
export function acceptSameValues(one: ValidatorJSON, other: ValidatorJSON): boolean {
  return validatorText(one) === validatorText(other) || (acceptsAllOf(one, other) && acceptsAllOf(other, one));
}

/** Whether `validator` accepts all values that `other` accepts. */
export function acceptsAllOf(validator: ValidatorJSON, other: ValidatorJSON): boolean {
  try {
    return new Cover().covers(membersOf(validator), membersOf(other));
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    const accepted = new Set(unionMembers(validator));
    return unionMembers(other).every((member) => accepted.has(member));
  }
}

function membersOf(validator: ValidatorJSON): Member[] {
  return validator.type === "union" ? validator.value.flatMap(membersOf) : [validator];
}

function fieldAt(fields: Fields, name: string): Field {
  if (fields.type === "object") {
    const field = Object.hasOwn(fields.value, name) ? fields.value[name] : undefined;
    return field ? { members: membersOf(field.fieldType), absent: field.optional } : ABSENT;
  }
  const hasName = RECORD_KEY.test(name) && membersOf(fields.keys).some(({ type }) => type === "string");
  return hasName ? { members: membersOf(fields.values.fieldType), absent: true } : ABSENT;
}

/** Whether no value is accepted: by a union of nothing, or by an object that must have such a field. */
function isNever(members: Member[]): boolean {
  return members.every(
    (member) =>
      member.type === "object" &&
      Object.values(member.value).some(({ fieldType, optional }) => !optional && isNever(membersOf(fieldType))),
  );
}

function literalKind({ value }: OfType<"literal">): string {
  if (typeof value !== "object" || value === null) return typeof value;
  return "$integer" in value ? "bigint" : "number";
}

/** One comparison, which ends after a while. */
class Cover {
  #steps = 0;

  /** Whether the members of `outer` together accept all that those of `inner` do. */
  covers(outer: Member[], inner: Member[]): boolean {
    return inner.every((member) => this.#coversMember(outer, member));
  }

  #coversMember(outer: Member[], inner: Member): boolean {
    if (++this.#steps > MOST_STEPS) throw new TooMany();
    const has = (type: string): boolean => outer.some((member) => member.type === type);
    const hasSame = (text: string): boolean => outer.some((member) => validatorText(member) === text);
    if (has("any")) return true;
    switch (inner.type) {
      case "literal":
        return has(literalKind(inner)) || hasSame(validatorText(inner));
      case "boolean":
        return has("boolean") || (hasSame("true") && hasSame("false"));
      case "id":
        return has("string") || hasSame(validatorText(inner));
      case "array":
        // Arrays of different elements can be mixed: no two members accept them together.
        return outer.some(
          (member) => member.type === "array" && this.covers(membersOf(member.value), membersOf(inner.value)),
        );
      case "object":
      case "record":
        return this.#coversFields(outer, inner);
      default:
        return hasSame(validatorText(inner));
    }
  }

  #coversFields(outer: Member[], inner: Fields): boolean {
    if (isNever([inner])) return true;
    if (inner.type === "record" && !membersOf(inner.keys).every(({ type }) => type === "string" || type === "id")) {
      return outer.some((member) => validatorText(member) === validatorText(inner));
    }
    const candidates = outer
      .filter((member) => member.type === "object" || member.type === "record")
      .filter((member) => this.#coversFurtherKeys(member, inner));
    const names = new Set(
      [inner, ...candidates].flatMap((each) => (each.type === "object" ? Object.keys(each.value) : [])),
    );
    const gaps = candidates.map((candidate) => ({
      candidate,
      names: [...names].filter((name) => !this.#coversField([fieldAt(candidate, name)], fieldAt(inner, name))),
    }));
    if (gaps.some((gap) => gap.names.length === 0)) return true;
    gaps.sort((one, other) => one.names.length - other.names.length);
    return !this.#escapes(inner, gaps, new Map());
  }

  /** Whether `outer` has room for all keys of a record: there are so many that each member could miss one of its own. */
  #coversFurtherKeys(outer: Fields, inner: Fields): boolean {
    if (inner.type === "object") return true;
    const [keys, values] = [membersOf(inner.keys), membersOf(inner.values.fieldType)];
    if (keys.length === 0 || isNever(values)) return true;
    return (
      outer.type === "record" &&
      this.covers(membersOf(outer.keys), keys) &&
      this.covers(membersOf(outer.values.fieldType), values)
    );
  }

  #coversField(outer: Field[], inner: Field): boolean {
    const isAbsenceCovered = !inner.absent || outer.some(({ absent }) => absent);
    return (
      isAbsenceCovered &&
      this.covers(
        outer.flatMap(({ members }) => members),
        inner.members,
      )
    );
  }

  /**
   * Whether some object of `inner` is of none of the candidates: each misses it by one field, and for each field there is
   * a value that all those miss which miss the object by that field. `missed` has these by the field's name.
   *
   *     { a?: string } in { } | { a: string }: the first misses "x" in `a`, the second absence, and no value is both.
   *     { a?: string, b?: string } in the same, each with `b?: string`: likewise, since none misses anything by `b`.
   */
  #escapes(
    inner: Fields,
    gaps: { candidate: Fields; names: string[] }[],
    missed: ReadonlyMap<string, Field[]>,
  ): boolean {
    const [first, ...others] = gaps;
    if (first === undefined) return true;
    return first.names.some((name) => {
      const fields = [...(missed.get(name) ?? []), fieldAt(first.candidate, name)];
      return (
        !this.#coversField(fields, fieldAt(inner, name)) &&
        this.#escapes(inner, others, new Map([...missed, [name, fields]]))
      );
    });
  }
}
