import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { DataStore, type Write } from "../data_store.ts";
import { DurableFolder } from "../durable/folder.ts";
import { StorageError, type JournalRecord } from "../durable/journal.ts";
import { LogFile, type ReadRecord } from "../durable/log_file.ts";
import { KeptApp } from "../app/kept_app.ts";

// Thousands of starts sync what they write.
const MEMORY = "/dev/shm";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(existsSync(MEMORY) ? MEMORY : tmpdir(), "durable-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const OPTIONS = {
  onFatal: (line: string): never => {
    throw new Error(line);
  },
  onWarning: (line: string): void => assert.fail(line),
};

const LOG = "log-00000000";

const RECORDS: readonly JournalRecord[] = [
  { kind: "table", name: "notes", number: 10_001 },
  { kind: "commit", ts: "16", writes: [["", "notes", "id0", { text: "x".repeat(100) }]] },
  { kind: "environment", changes: { NAME: "ä", OTHER: null } },
  { kind: "commit", ts: "17", writes: [["", "notes", "id1", { text: "x" }]] },
];

/** A log of `RECORDS` that are all acknowledged. `ends[n]` is where the first n of them end. */
class Acknowledged {
  readonly folder: string;
  readonly file: string;
  readonly content: Buffer;
  readonly ends: readonly number[];

  constructor(t: TestContext) {
    this.folder = temporaryFolder(t);
    this.file = path.join(this.folder, LOG);
    const kept = DurableFolder.open(this.folder, () => {}, OPTIONS);
    const ends = [statSync(this.file).size];
    for (const record of RECORDS) {
      kept.append(record);
      kept.sync();
      ends.push(statSync(this.file).size);
    }
    kept.close();
    this.ends = ends;
    this.content = readFileSync(this.file);
  }

  /** Where the last record begins. */
  get last(): number {
    return this.ends.at(-2)!;
  }

  /** How many records a start finds in a log that has become `content`; null where it stops. Drops nothing unsaid. */
  found(content: Buffer): number | null {
    writeFileSync(this.file, content);
    const records: JournalRecord[] = [];
    const said: string[] = [];
    const take = ([record]: ReadRecord): unknown => record.kind !== "begin" && records.push(record);
    try {
      DurableFolder.open(this.folder, take, { ...OPTIONS, onWarning: (line) => said.push(line) }).close();
    } catch (error) {
      assert.ok(error instanceof StorageError, String(error));
      assert.match(error.message, /^\S+log-00000000: damaged at byte \d+; restore the folder from a copy$/);
      assert.ok(readFileSync(this.file).equals(content), "is left as it was");
      return null;
    }
    assert.deepEqual(records, RECORDS.slice(0, records.length));
    const left = readFileSync(this.file);
    const copies = copiesIn(this.folder);
    const kept = copies.map((name) => readFileSync(path.join(this.folder, name)));
    assert.ok(Buffer.concat([left, ...kept]).equals(content), "what was cut off is kept");
    assert.deepEqual(
      said,
      copies.map(
        (name) =>
          `${this.file}: its last record was not written whole; what begins at byte ${left.length} is kept in ${name}`,
      ),
    );
    for (const name of copies) rmSync(path.join(this.folder, name));
    return records.length;
  }
}

function copiesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes("torn"));
}

test("a log that is cut anywhere is read up to its last whole record", (t) => {
  const log = new Acknowledged(t);
  for (let length = 0; length <= log.content.length; length++) {
    const whole = log.ends.filter((end) => end <= length).length - 1;
    assert.equal(log.found(log.content.subarray(0, length)), whole < 0 ? null : whole, `${length} bytes`);
  }
});

test("a byte that is damaged costs the last record, or stops the start", (t) => {
  const log = new Acknowledged(t);
  for (let at = 0; at < log.content.length; at++) {
    for (const value of [log.content[at]! ^ (1 << at % 8), 0, 255]) {
      const content = Buffer.from(log.content);
      content[at] = value;
      const expected = content.equals(log.content) ? RECORDS.length : at < log.last ? null : RECORDS.length - 1;
      assert.equal(log.found(content), expected, `${value} at ${at}`);
    }
  }
});

/** Every block of a log, in lengths that are those of records, too. */
function* blocks({ content, ends }: Acknowledged): Iterable<readonly [from: number, to: number]> {
  const ofRecords = ends.map((end, n) => end - (ends[n - 1] ?? 0));
  for (const length of new Set([1, 8, 64, 200, ...ofRecords, ends[3]! - ends[1]!])) {
    for (let from = 0; from + length <= content.length; from++) yield [from, from + length];
  }
}

test("a block that is cut out costs the last record, or stops the start", (t) => {
  const log = new Acknowledged(t);
  for (const [from, to] of blocks(log)) {
    if (log.content.length - to < 16) continue; // nothing is left by which the end can be known
    const found = log.found(Buffer.concat([log.content.subarray(0, from), log.content.subarray(to)]));
    assert.ok(found === null || (from >= log.last && found === RECORDS.length - 1), `${from} to ${to}: ${found}`);
  }
});

test("a block that is there twice costs the last record, or stops the start", (t) => {
  const log = new Acknowledged(t);
  for (const [from, to] of blocks(log)) {
    const found = log.found(Buffer.concat([log.content.subarray(0, to), log.content.subarray(from)]));
    assert.ok(found === null || (to > log.last && found >= RECORDS.length - 1), `${from} to ${to}: ${found}`);
  }
});

test("a block of zeros or noise costs the last record, or stops the start", (t) => {
  const log = new Acknowledged(t);
  for (const [from, to] of blocks(log)) {
    if (log.content.length - to < 16) continue;
    for (const value of [0, 0x1f, 255]) {
      const content = Buffer.from(log.content).fill(value, from, to);
      const expected = content.equals(log.content) ? RECORDS.length : from < log.last ? null : RECORDS.length - 1;
      assert.equal(log.found(content), expected, `${value} from ${from} to ${to}`);
    }
  }
});

test("what a power cut leaves behind the last record is cut off", (t) => {
  const log = new Acknowledged(t);
  for (const length of [1, 100, 1_000_000]) {
    for (const value of [0, 0x20, 255]) {
      assert.equal(log.found(Buffer.concat([log.content, Buffer.alloc(length, value)])), RECORDS.length);
    }
    // The file had grown before its content was on the disk.
    const zeros = Buffer.alloc(log.content.length + length);
    log.content.copy(zeros, 0, 0, log.content.length - 30);
    assert.equal(log.found(zeros), RECORDS.length - 1);
  }
  const beyond = Buffer.from(log.content).fill(255, log.ends[1]! + 100);
  assert.equal(log.found(beyond), null, "more was there than the record that is not whole");
});

test("copies of what was cut off stay, each of them", async (t) => {
  const log = new Acknowledged(t);
  const said: string[] = [];
  for (const value of ["x", "y", "y"]) {
    writeFileSync(log.file, Buffer.concat([log.content, Buffer.from(value)]));
    const { kept } = opened(log.folder, 1, (line) => said.push(line));
    await kept.folder.idle();
    kept.folder.close();
    assert.ok(!existsSync(log.file), "older logs go");
    for (const kind of ["log", "snapshot"]) rmSync(path.join(log.folder, `${kind}-00000001`));
  }
  assert.equal(said.length, 3);
  const copies = copiesIn(log.folder).map((name) => [name, readFileSync(path.join(log.folder, name), "utf8")]);
  const at = `${LOG}.torn-at-${log.content.length}`;
  assert.deepEqual(Object.fromEntries(copies), { [at]: "x", [`${at}.2`]: "y", [`${at}.3`]: "y" });
});

test("nothing is cut off of which no copy can be kept", (t) => {
  const log = new Acknowledged(t);
  const torn = log.content.subarray(0, -1);
  writeFileSync(log.file, torn);
  const limit = (bytes: string): unknown => execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
  limit("0");
  t.after(() => limit("unlimited"));
  assert.throws(
    () => opened(log.folder),
    /log-00000000\.torn-at-\d+: cannot be written \(file too large\); nothing was cut off/,
  );
  limit("unlimited");
  assert.ok(readFileSync(log.file).equals(torn));
  assert.equal(log.found(torn), RECORDS.length - 1);
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

/** A snapshot, the log behind it, with the number of a table, and the next log, with a document. */
async function twoLogs(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  const { store, kept } = opened(folder, 1);
  await kept.folder.idle();
  kept.append({ kind: "table", name: "notes", number: 10_005 });
  kept.append({ kind: "environment", changes: { LONG: "x".repeat(2000) } });
  insert(kept, store, "a", {}); // begins a snapshot, which is unfinished in the copy
  const copy = temporaryFolder(t);
  cpSync(folder, copy, { recursive: true });
  await kept.folder.idle();
  rmSync(path.join(copy, "snapshot-00000002.unfinished"));
  assert.deepEqual(readdirSync(copy).toSorted(), ["files", "log-00000001", "log-00000002", "snapshot-00000001"]);
  return copy;
}

test("a snapshot, or a log that another one follows, is whole or refused", async (t) => {
  const folder = await twoLogs(t);
  for (const name of ["snapshot-00000001", "log-00000001"]) {
    const file = path.join(folder, name);
    const content = readFileSync(file);
    for (let length = 0; length < content.length; length++) {
      writeFileSync(file, content.subarray(0, length));
      assert.throws(() => opened(folder), new RegExp(`${name}: damaged at byte \\d+; restore the folder from a copy`));
    }
    writeFileSync(file, Buffer.concat([content, Buffer.alloc(1)]));
    assert.throws(() => opened(folder), new RegExp(`${name}: damaged at byte ${content.length}`));
    writeFileSync(file, content);
  }
  const { store, kept } = opened(folder);
  assert.deepEqual([idsIn(store), kept.tables.get("notes")], [["a"], 10_005]);
});

test("a file that is missing, or the beginning of a log, stops the start", async (t) => {
  const folder = await twoLogs(t);
  const files = readdirSync(folder).filter((name) => name !== "files");
  const whole = new Map(files.map((name) => [name, readFileSync(path.join(folder, name))]));
  const missing = (names: readonly string[]): string => {
    for (const [name, content] of whole) writeFileSync(path.join(folder, name), content);
    for (const name of names) rmSync(path.join(folder, name));
    try {
      opened(folder);
    } catch (error) {
      return (error as Error).message.replace(`${folder}/`, "");
    }
    return "started";
  };
  const restore = "is missing; restore the folder from a copy";
  assert.equal(missing(["log-00000001"]), `log-00000001: ${restore}`);
  assert.equal(missing(["log-00000001", "log-00000002"]), `log-00000001: ${restore}`);
  assert.equal(missing(["snapshot-00000001"]), `snapshot-00000001: ${restore}`);
  assert.equal(missing(["snapshot-00000001", "log-00000001"]), `snapshot-00000002: ${restore}`);
  whole.set("log-00000004", whole.get("log-00000002")!);
  assert.equal(missing([]), `log-00000003: ${restore}`);
  whole.set("log-00000002", Buffer.alloc(0));
  assert.match(missing(["log-00000004"]), /^log-00000002: damaged at byte 0/);
});

test("what a cut log lost is written anew behind its last whole record", (t) => {
  const folder = temporaryFolder(t);
  const first = opened(folder);
  insert(first.kept, first.store, "a", {});
  insert(first.kept, first.store, "b", {});
  const log = path.join(folder, "log-00000000");
  truncateSync(log, readFileSync(log).length - 3);
  const second = opened(folder, undefined, () => {});
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
  const torn = path.join(folder, `${LOG}.torn-at-1000`);
  writeFileSync(torn, "");
  await opened(folder).kept.openFiles();
  assert.deepEqual(readdirSync(path.join(folder, "files")), ["kept", "orphan"], "what was cut off may name it");
  rmSync(torn);
  const again = opened(folder);
  await again.kept.openFiles();
  assert.deepEqual(readdirSync(path.join(folder, "files")), ["kept"]);
  assert.equal(await again.store.component("").files.get("kept")?.text(), "text");
});

test("a log grows no larger than what can be read again", (t) => {
  const file = path.join(temporaryFolder(t), "log");
  const size = 2 ** 31 - 100;
  const log = new LogFile(file, size); // sparse
  assert.throws(
    () => log.append(RECORDS[1]!),
    /log: cannot be written \(.* too large to be read again\); nothing was changed/,
  );
  assert.equal(statSync(file).size, size);
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
