import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeId, encodeId } from "../runtime/id_encoding.ts";

// The id that Convex's own test of its encoding expects.
test("ids are encoded as Convex encodes them", () => {
  const bytes = [251];
  for (let at = 1; at < 16; at++) bytes.push(((bytes[at - 1] ?? 0) * 251) & 0xff);
  assert.equal(encodeId(1017, bytes), "z43zp6c3e75gkmz1kfwj6mbbx5sw281h");
});

test("ids come back as they went", () => {
  for (const table of [1, 127, 128, 10_001, 2 ** 21, 2 ** 31 - 1]) {
    const id = encodeId(
      table,
      Array.from({ length: 16 }, (_, at) => (at * 37 + table) & 0xff),
    );
    assert.match(id, /^[0-9a-z]{31,37}$/);
    assert.deepEqual(decodeId(id), { tableNumber: table });
  }
});

test("what is no id is told apart", () => {
  const id = encodeId(10_001, Array<number>(16).fill(7));
  const problems: readonly (readonly [string, RegExp])[] = [
    ["", /Invalid ID length 0/],
    [`${id}0000000`, /Invalid ID length 39/],
    [id.replace(/^./, "u"), /valid base32/],
    [id.toUpperCase(), /valid base32/],
    [`${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`, /Invalid ID version/],
    ["sssswsgggggggggsgcsssfafffsffks", /Unable to decode ID/],
  ];
  for (const [text, problem] of problems) {
    const decoded = decodeId(text);
    assert.ok("problem" in decoded, text);
    assert.match(decoded.problem, problem);
  }
});
