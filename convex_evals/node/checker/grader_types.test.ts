import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { workFolder } from "../push/test/work_folder.ts";
import { checkGraderTypes } from "./grader_types.ts";
import { addFiles } from "./test/projects.ts";

const GRADERS = ["evals/a/one/grader.test.ts", "evals/a/two/grader.test.ts"];
const API =
  'import type * as main from "../main.js";\nexport declare const api: { main: { n: typeof main.n } };\nexport declare const broken: Lost;\n';

/** A suite of two graders, the first of which has two mistakes: one of its own, one in what it imports. */
const SUITE = {
  [GRADERS[0]!]: `import { anonymousClient } from "convex-evals/grader";
import { convexTest } from "convex-test";
import { expect, test } from "vitest";
import { limit } from "../../helpers";
import { api } from "./answer/convex/_generated/api";
test("n", async () => {
  const word: string = api.main.n;
  expect(await anonymousClient().query(word, {})).toBe(limit(process.env));
  convexTest();
});
`,
  [GRADERS[1]!]: `import { expect, test } from "vitest";
test("n", (context) => expect(context.task.name).toBe("n"));
`,
  "evals/helpers.ts": "export const limit = (given: unknown): number => given;\n",
  "evals/a/one/answer/convex/_generated/api.d.ts": API,
  "evals/a/one/answer/convex/main.ts": "export const n = 1;\nexport const wrong: string = 2;\n",
};

function check(suite: string, files = GRADERS, packages: string[] = []): string[] {
  return checkGraderTypes(suite, files, packages).map(
    ({ file, line, column, code, message }) => `${file}:${line}:${column} ${code} ${message.split("\n")[0]}`,
  );
}

const MISTAKES = [
  "evals/a/one/grader.test.ts:7:9 TS2322 Type 'number' is not assignable to type 'string'.",
  "evals/a/one/grader.test.ts:8:40 TS2345 Argument of type 'string' is not assignable to parameter of type 'AnyFunction<\"query\">'.",
  "evals/helpers.ts:1:50 TS2322 Type 'unknown' is not assignable to type 'number'.",
];

test("the types of graders and of their helpers are checked, those of answers are not", (t) => {
  const suite = workFolder(t);
  addFiles(suite, SUITE);
  assert.deepEqual(check(suite), MISTAKES);
  assert.deepEqual(check(suite, [GRADERS[1]!]), []);
});

test("the tsconfig that covers a grader says how, and none of the eval's own projects", (t) => {
  const suite = workFolder(t);
  const loose = { target: "ESNext", module: "Preserve", strict: false, types: ["node"] };
  addFiles(suite, {
    "evals/a/one/grader.test.ts": "export const same = (given) => given;\n",
    "evals/a/two/grader.test.ts": "export const same = (given) => given;\n",
    "evals/a/one/tsconfig.json": JSON.stringify({ compilerOptions: loose }),
    "evals/a/two/answer/tsconfig.json": JSON.stringify({ compilerOptions: loose }),
    // Covers none of the graders: what its author sees are the defaults.
    "tsconfig.json": JSON.stringify({ compilerOptions: loose, include: ["scripts"] }),
  });
  const strict = "evals/a/two/grader.test.ts:1:22 TS7006 Parameter 'given' implicitly has an 'any' type.";
  assert.deepEqual(check(suite), [strict]);
  addFiles(suite, { "tsconfig.json": "{ broken" });
  assert.match(check(suite)[0]!, /^tsconfig\.json:1:3 TS1136/);
});

test("packages are found where the tester finds them", (t) => {
  const [suite, store] = [workFolder(t), workFolder(t)];
  const bare = (name: string): string => path.join("node_modules", name);
  addFiles(suite, {
    [GRADERS[0]!]:
      'import { own } from "own";\nimport { stored } from "stored";\nexport const sum: number = own + stored;\n',
    [bare("own/package.json")]: '{"name": "own", "types": "own.d.ts"}',
    [bare("own/own.d.ts")]: "export declare const own: 1;\n",
    [bare("vitest/package.json")]: '{"name": "vitest", "types": "none.d.ts"}',
    [GRADERS[1]!]:
      'import { test } from "vitest";\nimport "lost";\nimport { gone } from "lost";\ntest(gone, () => {});\n',
  });
  addFiles(store, {
    [bare("stored/package.json")]: '{"name": "stored", "main": "stored.js"}',
    [bare("stored/stored.js")]: "exports.stored = 1;\n",
    [bare("@types/stored/package.json")]: '{"name": "@types/stored", "types": "index.d.ts"}',
    [bare("@types/stored/index.d.ts")]: 'export declare const stored: "2";\n',
  });
  assert.deepEqual(check(suite, GRADERS, [store]), [
    "evals/a/one/grader.test.ts:3:14 TS2322 Type 'string' is not assignable to type 'number'.",
    "evals/a/two/grader.test.ts:3:22 TS2307 Cannot find module 'lost' or its corresponding type declarations.",
  ]);
});
