import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readProjectFile } from "../connection.ts";
import { findCalls, listSources } from "../source.ts";

const project = mkdtempSync(join(tmpdir(), "source-"));

before(() => {
  process.env["MODEL_OUTPUT_DIR"] = project;
  mkdirSync(join(project, "convex/model"), { recursive: true });
  mkdirSync(join(project, "convex/_generated"));
  writeFileSync(join(project, "convex/_generated/api.js"), "export const api = {};");
  writeFileSync(join(project, "convex/types.d.ts"), "declare const a: 1;");
  writeFileSync(
    join(project, "convex/model/users.ts"),
    'import * as server from "convex/server";\nexport const a = server;',
  );
  writeFileSync(
    join(project, "convex/notes.ts"),
    `import { query as q, mutation } from "./_generated/server";
     import helper, { other } from "./model/users";
     // ctx.storage.store(comment)
     export const text = "ctx.storage.store(string)";
     export const save = mutation(async (ctx) => {
       await ctx.storage
         .store(new Blob([other]));
       return q(helper);
     });`,
  );
});

after(() => rmSync(project, { recursive: true }));

test("the project's own sources are listed", () => {
  assert.deepEqual(listSources(), ["convex/model/users.ts", "convex/notes.ts"]);
});

test("calls are found whatever the layout, and not in comments and strings", async () => {
  assert.deepEqual(await findCalls(listSources(), /storage\.store$/), [
    { file: "convex/notes.ts", line: 6, callee: "ctx.storage.store", args: ["new Blob([other])"] },
  ]);
});

test("a missing file is named as the task names it", () => {
  assert.throws(() => readProjectFile("src/App.tsx"), /must contain a readable file `src\/App\.tsx`/);
});
