import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { isAccept, runRow, type Row } from "./harness.ts";

const folder = new URL("./rows/", import.meta.url);
const areas = new Map<string, readonly Row[]>();
for (const file of readdirSync(folder).sort()) {
  const { rows } = (await import(new URL(file, folder).href)) as { rows: readonly Row[] };
  areas.set(file.replace(/\.ts$/, ""), rows);
}

for (const [area, rows] of areas) {
  test(`conformance: ${area}`, async (t) => {
    for (const row of rows) await t.test(row.id, (tt) => runRow(tt, row));
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
  assert.ok(all.length >= 120 && accepts >= 40 && all.length - accepts >= 40, "the table is too small");
  t.diagnostic(`${all.length} rows: ${accepts} accepts, ${all.length - accepts} rejects`);
  for (const [area, rows] of areas) t.diagnostic(`${area}: ${rows.length} (${rows.filter(isAccept).length} accepts)`);
});
