import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SUMMARY, loadAreas, summaryText } from "./areas.ts";
import { isAccept, runRow } from "./harness.ts";

const areas = await loadAreas();
// Not each run of the tests tries all rows of an area; the others are there all the same, see "the table".
const EVERY = Number(process.env["ROWS_EVERY"] ?? 1);
const FIRST = Number(process.env["FIRST_ROW"] ?? 0) % EVERY;

for (const [area, rows] of areas) {
  test(`conformance: ${area}`, async (t) => {
    for (const row of rows.filter((_, at) => at % EVERY === FIRST)) await t.test(row.id, (tt) => runRow(tt, row));
  });
}

test("the table", (t) => {
  const all = [...areas.values()].flat();
  assert.deepEqual(
    all.map((row) => row.id).filter((id, at, ids) => ids.indexOf(id) < at),
    [],
    "two rows of one id",
  );
  for (const row of all) {
    assert.match(row.citation, /^(https:\/\/|get-convex\/convex-backend (crates|npm-packages)\/|npm convex\/)/, row.id);
  }
  const accepts = all.filter(isAccept).length;
  assert.ok(all.length >= 600 && accepts >= 200 && all.length - accepts >= 200, "the table is too small");
  t.diagnostic(`${all.length} rows: ${accepts} accepts, ${all.length - accepts} rejects`);
});

test("the documentation lists these rows", () => {
  const advice = "run `node backend/conformance/areas.ts`, then `cog -r -I . docs/*.md`";
  assert.equal(readFileSync(SUMMARY, "utf8"), summaryText(areas), advice);
});
