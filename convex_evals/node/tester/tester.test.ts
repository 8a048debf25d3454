import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { compileGrader } from "../checker/compile_grader.ts";
import { GRADER, makeSuite, runTester } from "./test/tester_process.ts";

test("outcomes, messages, names and places of tests", async (t) => {
  const suite = makeSuite(t, {
    [GRADER]: `import { describe, expect, test } from "vitest";
describe("numbers", () => {
  test("add", () => { expect(1 + 1).toBe(2); });
  test("differ", () => { expect({ a: [1, 2] }).toEqual({ a: [1, 3] }); });
  test.skip("later", () => {});
});
test("times out", async () => { await new Promise(() => {}); }, 800);
test("says something", async ({ annotate }) => { await annotate("hello"); });
`,
  });
  const { verdict, code } = await runTester(suite, GRADER);
  assert.equal(code, 0);
  assert.equal(verdict.kind, "verdict");
  assert.equal(verdict.token, "secret");
  assert.deepEqual(verdict.errors, []);
  assert.deepEqual(
    verdict.tests.map(({ name, outcome }) => [name, outcome]),
    [
      ["numbers > add", "passed"],
      ["numbers > differ", "failed"],
      ["numbers > later", "skipped"],
      ["times out", "failed"],
      ["says something", "passed"],
    ],
  );
  const message = verdict.tests[1]?.message ?? "";
  assert.match(message, /- +3,\n\+ +2,/);
  assert.match(message, /at grader\.test\.ts:4:\d+$/);
  assert.doesNotMatch(message, /\u001b/);
  assert.match(verdict.tests[3]?.message ?? "", /timed out in 800ms/);
});

test("what goes wrong outside tests is an error of the run", async (t) => {
  const suite = makeSuite(t, {
    "empty.test.ts": "export {};\n",
    "syntax.test.ts": "import { test } from 'vitest';\ntest('x', () => { const = 1; });\n",
    "throws.test.ts": "import { test } from 'vitest';\ntest('x', () => {});\nthrow new Error('at load');\n",
    "missing.test.ts": "import 'nowhere-to-be-found';\nimport { test } from 'vitest';\ntest('x', () => {});\n",
    "hook.test.ts":
      "import { beforeAll, test } from 'vitest';\nbeforeAll(() => { throw new Error('no set-up'); });\ntest('x', () => {});\n",
    "unhandled.test.ts":
      "import { test } from 'vitest';\ntest('x', async () => { void Promise.reject(new Error('nobody waits')); await new Promise((r) => setTimeout(r, 50)); });\n",
  });
  const expected: [string, string, RegExp, number | null][] = [
    ["empty.test.ts", "collect", /no test|No test/, null],
    ["syntax.test.ts", "collect", /syntax\.test\.ts:2:\d+: ERROR/, null],
    ["throws.test.ts", "collect", /^at load/, 3],
    ["missing.test.ts", "collect", /nowhere-to-be-found/, null],
    ["hook.test.ts", "collect", /^no set-up/, 2],
    ["unhandled.test.ts", "unhandled", /^nobody waits/, 2],
  ];
  for (const [grader, phase, message, line] of expected) {
    const { verdict } = await runTester(suite, grader);
    const error = verdict.errors[0];
    assert.equal(error?.phase, phase, grader);
    assert.match(error?.message ?? "", message);
    if (line !== null) assert.deepEqual([error?.file, error?.line], [grader, line]);
    assert.doesNotMatch(JSON.stringify(verdict), /convex-evals-suite/);
  }
});

test("what depends on vite means the same", async (t) => {
  const suite = makeSuite(t, {
    "loads-once.test.ts": `import { appendFileSync, readFileSync } from "node:fs";
import { test } from "vitest";
appendFileSync(process.env.HOME + "/loads", "x");
if (readFileSync(process.env.HOME + "/loads", "utf8").length % 2 === 1) throw new Error("the first time");
test("x", () => {});
`,
    "computed.test.ts": `import path from "node:path";
import { expect, test } from "vitest";
test("x", async () => { expect((await import(path.join(process.env.HOME!, "data.js"))).value).toBe(1); });
`,
    "data.js": 'export { value } from "./value";\nexport { T } from "./value";\n',
    "value.ts": "export const value = 1;\nexport type T = number;\n",
    "namespace.test.ts": `import { expect, test, vi } from "vitest";
import * as own from "./value";
test("x", () => { vi.spyOn(own, "value", "get").mockReturnValue(2); expect(own.value).toBe(2); });
`,
    "sends.test.ts": `import { expect, test } from "vitest";
test("x", () => { process.send?.({ tests: [{ name: "p", outcome: "passed", message: null, duration_ms: 1 }], errors: [] }); expect(1).toBe(2); });
`,
    "raw.test.ts": 'import { test } from "vitest";\nimport "./value.ts?raw";\ntest("x", () => {});\n',
    "hook.test.ts":
      'import { afterAll, test } from "vitest";\nafterAll(async () => { await new Promise(() => {}); }, 700);\ntest("x", () => {});\n',
  });
  for (const grader of ["computed.test.ts", "namespace.test.ts", "raw.test.ts"]) {
    assert.ok("reason" in (await compileGrader(path.join(suite, grader), suite, [])), grader);
  }
  const loads = await runTester(suite, "loads-once.test.ts", { only: "direct" });
  assert.match(loads.verdict.errors[0]?.message ?? "", /the first time/);
  const sends = await runTester(suite, "sends.test.ts", { only: "direct" });
  assert.deepEqual(
    sends.verdict.tests.map(({ name, outcome }) => [name, outcome]),
    [["x", "failed"]],
  );
  const hook = await runTester(suite, "hook.test.ts");
  assert.match(hook.verdict.errors[0]?.message ?? "", /Hook timed out in 700ms/);
});

test("what looks for files of the suite, or may, is not self-contained", async (t) => {
  const suite = makeSuite(t, {
    "plain.test.ts":
      'import fs from "node:fs";\nimport { test } from "vitest";\ntest("module", () => fs.writeFileSync("package.json", JSON.stringify({ type: "module" })));\n',
    "imports.test.ts":
      'import vm from "node:vm";\nimport { test } from "vitest";\ntest("x", () => vm.runInThisContext("1"));\n',
    "dynamic.test.ts": 'import { test } from "vitest";\ntest("x", async () => { await import("module"); });\n',
    "inner.test.ts": 'import { test } from "vitest";\nimport { x } from "./inner";\ntest("x", x);\n',
    "inner.ts": 'export { isMainThread as x } from "worker_threads";\n',
    "asks.test.ts": 'import { test } from "vitest";\ntest("x", () => process.getBuiltinModule("vm"));\n',
    "place.test.ts": 'import { test } from "vitest";\ntest("x", () => import.meta.url);\n',
  });
  const found = await Promise.all(
    ["plain", "imports", "dynamic", "inner", "asks", "place"].map((name) =>
      compileGrader(path.join(suite, `${name}.test.ts`), suite, []),
    ),
  );
  assert.deepEqual(
    found.map((each) => ("reason" in each ? each.reason : each.selfContained)),
    [true, false, false, false, false, false],
  );
  for (const specifier of ["./inner.ts?raw", "data:text/javascript,export default 1"]) {
    const file = path.join(suite, "query.test.ts");
    writeFileSync(file, `import { test } from "vitest";\nimport x from "${specifier}";\ntest("x", () => x);\n`);
    assert.ok("reason" in (await compileGrader(file, suite, [])), specifier);
  }
});

test("a grader cannot end the run or hide tests unseen", async (t) => {
  const suite = makeSuite(t, {
    "exit.test.ts": "import { test } from 'vitest';\ntest('x', () => {});\nprocess.exit(0);\n",
    "really.test.ts": "import { test } from 'vitest';\ntest('x', () => { (process as any).reallyExit(0); });\n",
    "forges.test.ts":
      "import fs from 'node:fs';\nimport { expect, test } from 'vitest';\nconst { writeSync } = fs;\nfs.writeSync = ((fd: number, data: Buffer, ...rest: number[]) => writeSync(fd, Buffer.from(String(data).replaceAll('failed', 'passed')), ...rest)) as never;\nJSON.stringify = (() => '{}') as never;\ntest('x', () => { expect(1).toBe(2); });\n",
    "only.test.ts":
      "import { expect, test } from 'vitest';\ntest.only('a', () => {});\ntest('b', () => { expect(1).toBe(2); });\n",
  });
  const exit = await runTester(suite, "exit.test.ts");
  assert.match(exit.verdict.errors[0]?.message ?? "", /process\.exit unexpectedly called/);
  const really = await runTester(suite, "really.test.ts");
  assert.equal(
    really.verdict.tests.some(({ outcome }) => outcome === "passed"),
    false,
  );
  assert.notEqual(really.verdict.errors.length, 0);
  const forges = await runTester(suite, "forges.test.ts", { only: "direct" });
  assert.deepEqual(
    forges.verdict.tests.map(({ outcome }) => outcome),
    ["failed"],
  );
  const only = await runTester(suite, "only.test.ts");
  assert.deepEqual(
    only.verdict.tests.map(({ outcome }) => outcome),
    ["passed", "skipped"],
  );
});
