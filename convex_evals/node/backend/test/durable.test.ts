import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { DataStore, type Write } from "../data_store.ts";
import { DurableFolder } from "../durable/folder.ts";
import type { JournalRecord } from "../durable/journal.ts";
import { framed, readRecords } from "../durable/log_file.ts";
import { KeptApp } from "../app/kept_app.ts";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "durable-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const OPTIONS = {
  onFatal: (line: string): never => {
    throw new Error(line);
  },
  onWarning: (line: string): void => assert.fail(line),
};

function recordsOf(file: string): JournalRecord[] {
  const records: JournalRecord[] = [];
  readRecords(file, ([record]) => records.push(record));
  return records;
}

const RECORDS: readonly JournalRecord[] = [
  { kind: "table", name: "notes", number: 10_001 },
  { kind: "environment", changes: { NAME: "ä", OTHER: null } },
  { kind: "commit", ts: "17", writes: [["", "notes", "id1", { text: "x" }]] },
];

test("a log that is cut anywhere is read up to its last whole record", (t) => {
  const file = path.join(temporaryFolder(t), "log");
  const frames = RECORDS.map(framed);
  const whole = Buffer.concat(frames);
  const ends = frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length);
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    const complete = ends.filter((end) => end <= length).length;
    assert.deepEqual(recordsOf(file), RECORDS.slice(0, complete));
    assert.equal(
      readRecords(file, () => {}),
      complete === 0 ? 0 : ends[complete - 1],
    );
  }
});

test("a log that is damaged in the middle is refused: what follows would be lost unseen", (t) => {
  const file = path.join(temporaryFolder(t), "log");
  const whole = Buffer.concat(RECORDS.map(framed));
  whole[20]! ^= 1;
  writeFileSync(file, whole);
  assert.throws(() => recordsOf(file), /log: damaged at byte 0; restore the folder from a copy/);
});

const VALUES = {
  bytes: new Uint8Array([0, 1, 255]).buffer,
  big: 12n,
  zero: -0,
  huge: Infinity,
  text: '"$',
  list: [null],
};

function insert(kept: KeptApp, store: DataStore, id: string, fields: object, table = "notes"): void {
  const document = { _id: id, _creationTime: 1000, ...fields };
  const ts = store.lastCommitTs + 1n;
  kept.commit(ts, [{ componentPath: "", table, id, document }]);
  store.component("").put(id, table, document);
  store.commit(ts);
}

function opened(
  folder: string,
  compactFrom = 1_000_000,
  onWarning = OPTIONS.onWarning,
): { store: DataStore; kept: KeptApp } {
  const store = new DataStore();
  return { store, kept: new KeptApp(folder, store, { ...OPTIONS, onWarning, compactFrom }) };
}

const idsIn = (store: DataStore): string[] => [...store.documents("notes")].map((write: Write) => write.id);

test("values of every kind come back", (t) => {
  const folder = temporaryFolder(t);
  const { store, kept } = opened(folder);
  insert(kept, store, "a", VALUES);
  assert.deepEqual(opened(folder).store.component("").get("a"), { _id: "a", _creationTime: 1000, ...VALUES });
});

test("a snapshot holds everything, and older files go", async (t) => {
  const folder = temporaryFolder(t);
  const { store, kept } = opened(folder, 2000);
  kept.append({ kind: "table", name: "notes", number: 10_005 });
  kept.keep({ kind: "environment", changes: { NAME: "value" } });
  for (let n = 0; n < 60; n++) {
    insert(kept, store, `id${n}`, { n });
    if (n % 10 === 0) await kept.folder.idle();
  }
  await kept.folder.idle();
  const generations = new Set(readdirSync(folder).map((name) => /\d+$/.exec(name)?.[0]));
  generations.delete(undefined);
  assert.equal(generations.size, 1, readdirSync(folder).join(" "));
  const again = opened(folder);
  assert.deepEqual(idsIn(again.store).toSorted(), idsIn(store).toSorted());
  assert.equal(again.kept.secret, kept.secret);
  assert.equal(again.kept.tables.get("notes"), 10_005);
  assert.equal(again.kept.environment.get("NAME"), "value");
});

test("a process that ends while it writes a snapshot loses nothing", async (t) => {
  const folder = temporaryFolder(t);
  const { store, kept } = opened(folder, 1, () => {});
  insert(kept, store, "a", {});
  insert(kept, store, "b", {}); // begins a snapshot, which is unfinished when the folder is opened again
  t.after(() => kept.folder.idle());
  assert.deepEqual(idsIn(opened(folder).store), ["a", "b"]);
  assert.ok(!readdirSync(folder).some((name) => name.endsWith(".unfinished")));
});

test("a snapshot, or a log that another one follows, is whole or refused", async (t) => {
  const folder = temporaryFolder(t);
  const { store, kept } = opened(folder, 1);
  for (const id of ["a", "b", "c"]) {
    insert(kept, store, id, {});
    await kept.folder.idle();
  }
  const [snapshot = ""] = readdirSync(folder).filter((name) => name.startsWith("snapshot"));
  const content = readFileSync(path.join(folder, snapshot));
  truncateSync(path.join(folder, snapshot), content.length - 1);
  assert.throws(() => opened(folder), /snapshot-\d+: damaged at byte \d+; restore the folder from a copy/);
  writeFileSync(path.join(folder, snapshot), content);
  const [log = ""] = readdirSync(folder).filter((name) => name.startsWith("log"));
  const next = String(Number(log.slice(4)) + 1).padStart(8, "0");
  writeFileSync(path.join(folder, `log-${next}`), "");
  assert.deepEqual(idsIn(opened(folder).store).toSorted(), ["a", "b", "c"]);
  truncateSync(path.join(folder, log), readFileSync(path.join(folder, log)).length - 1);
  assert.throws(() => opened(folder), /log-\d+: damaged at byte \d+/);
});

test("what a cut log lost is written anew behind its last whole record", (t) => {
  const folder = temporaryFolder(t);
  const first = opened(folder);
  insert(first.kept, first.store, "a", {});
  insert(first.kept, first.store, "b", {});
  const log = path.join(folder, "log-00000000");
  truncateSync(log, readFileSync(log).length - 3);
  const second = opened(folder);
  assert.deepEqual(idsIn(second.store), ["a"]);
  insert(second.kept, second.store, "c", {});
  assert.deepEqual(idsIn(opened(folder).store), ["a", "c"]);
});

test("content of files that were never committed is removed", async (t) => {
  const folder = temporaryFolder(t);
  const { store, kept } = opened(folder);
  kept.keepFile("", "kept", Buffer.from("text"));
  kept.keepFile("", "orphan", Buffer.from("text"));
  insert(kept, store, "kept", { contentType: "text/plain" }, "_storage");
  const again = opened(folder);
  await again.kept.openFiles();
  assert.deepEqual(readdirSync(path.join(folder, "files")), ["kept"]);
  assert.equal(await again.store.component("").files.get("kept")?.text(), "text");
});

test("a folder that cannot be used says so in one line", (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(path.join(folder, "file"), "");
  const open = (name: string): DurableFolder => DurableFolder.open(name, () => {}, OPTIONS);
  assert.throws(
    () => open(path.join(folder, "file")),
    /file: cannot be used for data \(not a directory\)|file already exists/,
  );
  mkdirSync(path.join(folder, "data", "log-00000000"), { recursive: true });
  assert.throws(
    () => open(path.join(folder, "data")),
    /data: cannot be used for data \(illegal operation on a directory\)/,
  );
});
