import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { compileGrader } from "../checker/compile_grader.ts";
import { makeSuite, runTester, startTester } from "./test/tester_process.ts";

const GRADER = "evals/000-a/000-b/grader.test.ts";
const toolchain = path.dirname(path.dirname(createRequire(import.meta.url).resolve("convex/package.json")));

/** Whether a process is there and more than a name that nobody has asked for yet (a zombie). */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

/** A package with one file, as text for `makeSuite`. */
function fakePackage(folder: string, name: string, answer: string): Record<string, string> {
  return {
    [`${folder}/node_modules/${name}/package.json`]: JSON.stringify({
      name,
      version: "1.0.0",
      type: "module",
      exports: "./index.js",
    }),
    [`${folder}/node_modules/${name}/index.js`]: `export const answer = ${JSON.stringify(answer)};\n`,
  };
}

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

test("imports come from the suite, then from the given packages, then from the toolchain", async (t) => {
  const suite = makeSuite(t, {
    [GRADER]: `import { expect, test } from "vitest";
import type { Missing } from "types-only";
import { answer as near } from "near";
import { answer as far } from "far";
import { helper } from "../../../grader";
import { twice } from "../../../grader/native.mjs";
import { api } from "./answer/convex/_generated/api";
import { getFunctionName } from "convex/server";
import * as library from "convex-evals/grader";
test("all", () => {
  const wanted: Missing = { near: "suite", far: "store" };
  expect({ near, far }).toEqual(wanted);
  expect(helper).toBe("store");
  expect(twice).toBe("storestore");
  expect(getFunctionName(api.a.b)).toBe("a:b");
  expect(Object.keys(library).length).toBeGreaterThan(0);
});
`,
    "evals/000-a/000-b/answer/convex/_generated/api.js":
      'import { anyApi } from "convex/server";\nexport const api = anyApi;\n',
    "evals/000-a/000-b/answer/convex/_generated/api.d.ts": "export declare const api: any;\n",
    "grader/index.ts": 'import { answer } from "far";\nexport const helper = answer;\n',
    "grader/native.mjs": 'import { answer } from "far";\nexport const twice = answer + answer;\n',
    ...fakePackage(".", "near", "suite"),
    ...fakePackage("store", "near", "store"),
    ...fakePackage("store", "far", "store"),
  });
  const { verdict } = await runTester(suite, GRADER, { packages: [path.join(suite, "store")] });
  assert.deepEqual(verdict.errors, []);
  assert.deepEqual(
    verdict.tests.map(({ outcome, message }) => [outcome, message]),
    [["passed", null]],
  );
});

test("nothing of the suite configures the run, and nothing is written into it", async (t) => {
  const trap = "throw new Error('the suite was asked');\n";
  const suite = makeSuite(t, {
    [GRADER]: `import { expect, test } from "vitest";
test("env", () => { expect(process.env.TRAP).toBeUndefined(); expect(import.meta.env.VITE_TRAP).toBeUndefined(); });
test("snapshot", () => { expect({ a: 1 }).toMatchSnapshot(); });
`,
    "vitest.config.ts": trap,
    "vite.config.ts": trap,
    "vitest.workspace.ts": trap,
    "vitest.projects.ts": trap,
    "postcss.config.js": trap,
    ".env": "TRAP=1\nVITE_TRAP=1\n",
    "tsconfig.json": "{ broken",
    "evals/000-a/000-b/tsconfig.json": '{ "extends": "./nowhere.json" }',
  });
  const before = readdirSync(suite, { recursive: true }).sort();
  const folders = [".", "evals", "evals/000-a", "evals/000-a/000-b"].map((folder) => path.join(suite, folder));
  for (const folder of folders) chmodSync(folder, 0o555);
  const { verdict } = await runTester(suite, GRADER);
  for (const folder of folders) chmodSync(folder, 0o755);
  assert.deepEqual(verdict.errors, []);
  assert.deepEqual(
    verdict.tests.map(({ outcome }) => outcome),
    ["passed", "failed"],
  );
  assert.deepEqual(readdirSync(suite, { recursive: true }).sort(), before);
});

test("no temporary file is left behind", async (t) => {
  const suite = makeSuite(t, { [GRADER]: "import { test } from 'vitest';\ntest('x', () => {});\n" });
  const temporary = makeSuite(t, {});
  const { verdict } = await runTester(suite, GRADER, { env: { TMPDIR: temporary } });
  assert.equal(verdict.tests[0]?.outcome, "passed");
  assert.deepEqual(readdirSync(temporary), []);
});

test("a grader may run the project's own vitest", async (t) => {
  const suite = makeSuite(t, {
    [GRADER]: `import { expect, test } from "vitest";
import { spawnSync } from "node:child_process";
const run = (filter: string) =>
  spawnSync("./node_modules/.bin/vitest", ["run", filter], { cwd: process.env.MODEL_OUTPUT_DIR, encoding: "utf8" });
test("good", () => { const { status, stdout } = run("good"); expect(stdout).toMatch(/1 passed/); expect(status).toBe(0); }, 30_000);
test("bad", () => { const { status, stdout } = run("bad"); expect(stdout).toMatch(/1 failed/); expect(status).toBe(1); }, 30_000);
`,
    "project/package.json": '{ "type": "module" }',
    "project/good.test.ts": 'import { expect, test } from "vitest";\ntest("x", () => { expect(1).toBe(1); });\n',
    "project/bad.test.ts": 'import { expect, test } from "vitest";\ntest("x", () => { expect(1).toBe(2); });\n',
  });
  symlinkSync(toolchain, path.join(suite, "project", "node_modules"));
  const { verdict } = await runTester(suite, GRADER, { env: { MODEL_OUTPUT_DIR: path.join(suite, "project") } });
  assert.deepEqual(
    verdict.tests.map(({ outcome, message }) => [outcome, message]),
    [
      ["passed", null],
      ["passed", null],
    ],
  );
});

test("output goes to stderr and is bounded", async (t) => {
  const suite = makeSuite(t, {
    [GRADER]: `import { test } from "vitest";
test("talks", () => { console.log("hello"); for (let i = 0; i < 300; i++) console.log("x".repeat(10_000)); });
`,
  });
  const { verdict, printed } = await runTester(suite, GRADER, { only: "vitest" });
  assert.equal(verdict.tests[0]?.outcome, "passed");
  assert.match(printed, /^hello\n/);
  // How much of it vitest's worker gets rid of before it is ended depends on the machine.
  assert.ok(printed.length < 1_100_000, String(printed.length));
  assert.equal((await runTester(suite, GRADER, { only: "direct" })).printed, "");
  const output = new URL("./output.ts", import.meta.url).href;
  const talks = `import { capOutput } from ${JSON.stringify(output)}; capOutput(); for (let i = 0; i < 300; i++) console.log("x".repeat(10_000));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", talks], {
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  assert.deepEqual([stdout, stderr.length], ["", 1_000_000 + "\n[output cut off]\n".length]);
});

test("the end of stdin ends the tester and its workers", async (t) => {
  const suite = makeSuite(t, {
    [GRADER]: `import { test } from "vitest";
test("busy", () => { console.log("started", process.pid); for (;;); });
`,
  });
  const child = startTester(suite, GRADER);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  let printed = "";
  for await (const chunk of child.stderr!) {
    printed += String(chunk);
    if (/started \d+\n/.test(printed)) break;
  }
  const worker = Number(/started (\d+)/.exec(printed)?.[1]);
  assert.equal(isRunning(worker), true);
  child.stdin!.end();
  await ended;
  await sleep(200);
  assert.equal(isRunning(worker), false);
});

test("require and environments find what imports find", async (t) => {
  const suite = makeSuite(t, {
    "require.test.ts": `import { createRequire } from "node:module";
import { expect, test } from "vitest";
test("typescript", () => { expect(createRequire(import.meta.url)("typescript").version).toMatch(/^5/); });
test("store", () => { expect(createRequire(import.meta.url)("stored/value.json").answer).toBe("store"); });
`,
    "dom.test.ts": `// @vitest-environment happy-dom
import { expect, test } from "vitest";
test("document", () => { expect(document.createElement("p").tagName).toBe("P"); });
`,
    "store/node_modules/stored/package.json": "{}",
    "store/node_modules/stored/value.json": '{"answer": "store"}',
  });
  for (const grader of ["require.test.ts", "dom.test.ts"]) {
    const { verdict } = await runTester(suite, grader, { packages: [path.join(suite, "store")] });
    assert.deepEqual(verdict.errors, [], grader);
    assert.ok(
      verdict.tests.length > 0 && verdict.tests.every(({ outcome }) => outcome === "passed"),
      JSON.stringify(verdict),
    );
  }
});
