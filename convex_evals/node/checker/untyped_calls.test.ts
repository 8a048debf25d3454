import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { buildPush } from "../push/request.ts";
import { lint } from "./lint.ts";
import { makeProject } from "./test/projects.ts";

const RULE = "@typescript-eslint/no-floating-promises";

/** The statements that lint finds in a helper whose parameters have no types, in the given kind of file. */
async function foundIn(
  t: TestContext,
  statements: readonly string[],
  head: string,
  name = "convex/helper.js",
): Promise<string[]> {
  const text = [`${head} {`, ...statements, "}\n"].join("\n");
  const uses = 'import { helper } from "./helper.js";\nexport const used = helper;\n';
  const project = await makeProject(t, "bare", { [name]: text, "convex/uses.ts": uses });
  const sources = path.join(path.dirname(project), "sources.json");
  writeFileSync(sources, JSON.stringify((await buildPush(project)).sources));
  const { problems } = lint(project, { sources, strict: true });
  const floating = problems.filter(({ rule }) => rule === RULE);
  return floating.map(({ file, line }) => (file === name ? statements[line - 2]! : `${file}: ${line}`));
}

const UNTYPED = "export async function helper(ctx, list, callback, { db })";

test("in JavaScript a call of unknown result that nothing awaits is a floating promise", async (t) => {
  const floating = [
    'ctx.db.insert("messages", {});',
    "ctx.db.delete(list[0]);",
    "ctx.storage.delete(list[0]);",
    'ctx.db["patch"](list[0], {});',
    "ctx?.db?.replace(list[0], {});",
    "ctx.scheduler.runAfter(0, list[0], {});",
    "db.delete(list[0]);",
    "callback();",
    "list.map((each) => ctx.db.delete(each));",
    "if (list) ctx.runMutation(list[0]);",
    "list && ctx.db.get(list);",
    "list ? ctx.db.get(1) : null;",
    "(list, ctx.db.get(2));",
    "ctx.db.get(3).then((each) => each);",
    "ctx.db.get(4).finally(() => 1);",
    "list.forEach((each) => { ctx.db.get(each); });",
  ];
  assert.deepEqual(await foundIn(t, floating, UNTYPED), floating);
});

test("in JavaScript what is awaited, handled, given a type or gives no promise is none", async (t) => {
  const right = [
    'await ctx.db.insert("messages", {});',
    "void ctx.db.get(1);",
    "ctx.db.get(2).catch(() => null);",
    "ctx.db.get(3).then((each) => each, () => null);",
    "ctx.db.get(4).catch(() => null).finally(() => 1);",
    "const later = ctx.db.get(5);",
    "list.push(later);",
    "list.forEach((each) => list.set(each, 1));",
    "new Map(list).delete(1);",
    "list.delete(1);",
    "list.seen.delete(1);",
    "console.log(list);",
    "await Promise.all(list.map((each) => ctx.db.delete(each)));",
    "return list.map(callback);",
  ];
  assert.deepEqual(await foundIn(t, right, UNTYPED), []);
  const head = "/** @param {string[]} list\n@param {() => void} callback */\nexport function helper(list, callback)";
  assert.deepEqual(await foundIn(t, ["callback();", "list.join();"], head), []);
  // TypeScript's own says what it does not know, by an error.
  const typed = "export async function helper(ctx: any, list: any, callback: any, { db }: any)";
  assert.deepEqual(await foundIn(t, ["callback(ctx, list, db);"], typed, "convex/helper.ts"), []);
});
