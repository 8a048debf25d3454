import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Linter } from "eslint";
import * as unsupported from "eslint/use-at-your-own-risk";
import ts from "typescript";
import { configs } from "typescript-eslint";
import { lint } from "./lint.ts";
import { RULES } from "./rules.ts";
import { makeProject } from "./test/projects.ts";

// The one list of all of them.
// eslint-disable-next-line @typescript-eslint/no-deprecated
const { builtinRules } = unsupported;

const inHandler = (body: string): string =>
  `import { mutation } from "./_generated/server";\nexport const run = mutation({ args: {}, handler: async (ctx) => {\n${body}\n} });\n`;

const INSERT = 'ctx.db.insert("tasks", { title: "a", done: false })';

test("mistakes are found, with file, line and rule", async (t) => {
  const cases: [string, string][] = [
    [`${INSERT};`, "@typescript-eslint/no-floating-promises"],
    [`[1].forEach(async () => { await ${INSERT}; });`, "@typescript-eslint/no-misused-promises"],
    [`if (ctx.db.query("tasks").first()) { return 1; }`, "@typescript-eslint/no-misused-promises"],
    ["await 3;", "@typescript-eslint/await-thenable"],
    ["// @ts-ignore\nconst a: number = 'x'; return a;", "@typescript-eslint/ban-ts-comment"],
    ["throw 'text';", "@typescript-eslint/only-throw-error"],
    ["const list = [1]; delete list[0]; return list;", "@typescript-eslint/no-array-delete"],
    ["for (const i in [1, 2]) { console.log(i); }", "@typescript-eslint/no-for-in-array"],
    ["await new Promise(async (resolve) => { resolve(1); });", "no-async-promise-executor"],
    ["try { return 1; } finally { return 2; }", "no-unsafe-finally"],
    ["const n = Number('1'); return n === NaN;", "use-isnan"],
    ["ctx.db.query;", "@typescript-eslint/no-unused-expressions"],
    ["if (true) { return 1; }", "no-constant-condition"],
    ["// eslint-disable-next-line\nthrow 'text';", "@typescript-eslint/only-throw-error"],
  ];
  const files = Object.fromEntries(cases.map(([body], index) => [`convex/case${index}.ts`, inHandler(body)]));
  const { ok, problems } = lint(await makeProject(t, "schema", files));
  assert.equal(ok, false);
  for (const [index, [body, rule]] of cases.entries()) {
    const found = problems.filter(({ file }) => file === `convex/case${index}.ts`);
    assert.ok(
      found.some((problem) => problem.rule === rule && problem.line >= 3),
      `${body}: ${JSON.stringify(found)}`,
    );
  }
});

test("what is right but unusual passes", async (t) => {
  const bodies = [
    `void ${INSERT};`,
    `const work = ${INSERT}; await work;`,
    `await Promise.all([1, 2].map(async () => ${INSERT}));`,
    "while (true) { break; }",
    "let unused = 1; var old = 2; const any: any = null; return any;",
    "try { return 1; } catch (error) { throw error; }",
    "const self = this; return self;",
    "switch (Math.trunc(1.5)) { case 1: const a = 1; return a; default: return null; }",
    "const row = await ctx.db.query('tasks').first(); return row!.title + `${row?._creationTime}`;",
    "const text = 'a' as string; return text as string;",
    "// @ts-expect-error\nconst a: number = 'x'; return a;",
    "/* eslint-disable no-console */ console.log('x');",
  ];
  const files = Object.fromEntries(bodies.map((body, index) => [`convex/case${index}.ts`, inHandler(body)]));
  const project = await makeProject(t, "schema", {
    ...files,
    "src/Button.tsx": `import { useMutation } from "convex/react";
import { useEffect } from "react";
import { api } from "../convex/_generated/api";
export function Button() {
  const add = useMutation(api.nested.tasks.add);
  useEffect(() => { add({ title: "shown" }); }, []);
  return <button onClick={async () => { await add({ title: "clicked" }); }} onFocus={() => { add({ title: "focus" }); }}>add</button>;
}
`,
  });
  assert.deepEqual(lint(project).problems, []);
});

test("hooks are judged in the client, not in functions", async (t) => {
  const hook = 'import { useState } from "react";\nexport function useIt(on: boolean) { if (on) { useState(1); } }\n';
  const { problems } = lint(await makeProject(t, "schema", { "src/use_it.ts": hook, "convex/use_it.ts": hook }));
  assert.deepEqual(
    problems.map(({ file, rule }) => [file, rule]),
    [["src/use_it.ts", "react-hooks/rules-of-hooks"]],
  );
});

test("generated code is not linted, what cannot be parsed is said", async (t) => {
  const project = await makeProject(t, "schema", { "src/broken.ts": "export const a = ;\n" });
  const { problems } = lint(project);
  assert.deepEqual(
    problems.map(({ file, rule, line }) => [file, rule, line]),
    [["src/broken.ts", "syntax", 1]],
  );
});

test("every recommended rule has a decision and a reason, and every kept one exists", () => {
  const decided = new Set(RULES.map(({ name }) => name));
  assert.equal(decided.size, RULES.length);
  const recommended = [...builtinRules].filter(([, rule]) => rule.meta?.docs?.recommended).map(([name]) => name);
  assert.ok(recommended.length > 50);
  const typed = configs.recommendedTypeChecked.flatMap(({ rules = {} }) =>
    Object.entries(rules)
      .filter(([, level]) => level !== "off")
      .map(([name]) => name),
  );
  assert.ok(typed.length > 40);
  assert.deepEqual(
    [...recommended, ...typed].filter((name) => !decided.has(name)),
    [],
  );
  assert.deepEqual(
    RULES.filter(({ reason }) => reason.length < 5),
    [],
  );
  for (const { name, scope } of RULES) {
    if (scope !== "never" && !name.includes("/")) assert.ok(builtinRules.has(name), name);
  }
  assert.ok(Linter.version.startsWith("10."));
});

test("a project cannot put its own declarations in the place of the language's", async (t) => {
  const library = path.dirname(ts.getDefaultLibFilePath({}));
  const copied = ["es5", "es2015.promise", "es2015.symbol", "es2015.iterable"]
    .map((name) => readFileSync(path.join(library, `lib.${name}.d.ts`), "utf8"))
    .join("\n");
  const options = { lib: [], types: [], target: "ESNext", module: "ESNext", moduleResolution: "Bundler", strict: true };
  const project = await makeProject(t, "bare", {
    "convex/tsconfig.json": JSON.stringify({ compilerOptions: { ...options, skipLibCheck: true } }),
    "convex/globals.d.ts": copied.replaceAll(/^\/\/\/.*$/gm, ""),
    "convex/run.ts": "export const run = async (): Promise<void> => { Promise.resolve(1); };\n",
  });
  const { problems } = lint(project);
  assert.deepEqual(
    problems.map(({ file, rule }) => `${file}: ${rule}`),
    ["convex/run.ts: @typescript-eslint/no-floating-promises"],
  );
});
