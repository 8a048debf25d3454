import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import {
  addDocuments,
  anonymousClient,
  clearTables,
  expectError,
  expectSameSchema,
  listCallable,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

beforeEach(() => clearTables("entries", "exports"));

/** Stores entries of an account and returns the text that an export of it must have. */
async function addEntries(account: string, ...amounts: number[]): Promise<string> {
  const entries = amounts.map((cents) => ({ account, cents }));
  for (let from = 0; from < entries.length; from += 2500) await addDocuments("entries", entries.slice(from, from + 2500));
  return amounts.map((cents) => `${account},${cents}\n`).join("");
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("clients can call the action and the query, and nothing else", async () => {
  expect(await listCallable(), "clients must be able to call these functions and nothing else").toEqual(["exporter:create (action)", "ledger:listExports (query)"]);
});

test("create stores the compressed text and records it", async () => {
  await addEntries("other", 1);
  const text = await addEntries("Zoë", 300, -20, 300, 7.5);
  const id = await visitor.action(api.exporter.create, { account: "Zoë" });

  const exports = await listTable("exports");
  expect(exports.map(({ _id }) => _id), "`create` must insert one document into `exports` and return its id").toEqual([id]);
  expect(exports.map(ownFields), "the document must describe the export").toMatchObject([
    { account: "Zoë", sha256: sha256(text), entryCount: 4 },
  ]);

  const [listed] = await visitor.query(api.ledger.listExports, { account: "Zoë" });
  expect(listed, "`listExports` must return `sha256`, `entryCount` and `url`, and nothing else").toEqual({
    sha256: sha256(text),
    entryCount: 4,
    url: expect.any(String) as unknown,
  });
  const file = await fetch(listed?.url ?? "");
  expect(file.status, "the file must be there for download at its `url`").toBe(200);
  expect(file.headers.get("content-type"), "the file must have the content type of gzip").toBe("application/gzip");
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.subarray(0, 2).toString("hex"), "the stored file must be compressed with gzip").toBe("1f8b");
  expect(gunzipSync(bytes).toString("utf8"), "uncompressed, the file must be the lines of the account's entries").toBe(text);
});

test("an account with as many entries as there may be is exported whole", async () => {
  const amounts = Array.from({ length: 5000 }, (_, index) => index);
  const text = await addEntries("big", ...amounts);
  await visitor.action(api.exporter.create, { account: "big" });
  const [listed] = await visitor.query(api.ledger.listExports, { account: "big" });
  expect(listed, "an export of 5,000 entries must have all of them").toMatchObject({ entryCount: 5000, sha256: sha256(text) });
});

test("listExports shows the exports of the account, the newest first", async () => {
  await addEntries("a", 1);
  await addEntries("b", 2);
  await visitor.action(api.exporter.create, { account: "a" });
  await visitor.action(api.exporter.create, { account: "b" });
  await addEntries("a", 3, 4);
  await visitor.action(api.exporter.create, { account: "a" });
  const counts = (await visitor.query(api.ledger.listExports, { account: "a" })).map(({ entryCount }) => entryCount);
  expect(counts, "`listExports` must return the two exports of the account, the newest first").toEqual([3, 1]);
  const none = await visitor.query(api.ledger.listExports, { account: "c" });
  expect(none, "`listExports` of an account without exports must return an empty list").toEqual([]);
});

test("create refuses an account without entries, and records nothing", async () => {
  await addEntries("a", 1);
  await expectError(visitor.action(api.exporter.create, { account: "nobody" }), "`create` for an account without entries must throw an error", {
    by: "code",
  });
  expect(await listTable("exports"), "a refused `create` must insert nothing into `exports`").toEqual([]);
});
