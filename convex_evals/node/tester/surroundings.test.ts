import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { GRADER, makeSuite, runTester, startTester } from "./test/tester_process.ts";

const toolchain = path.dirname(path.dirname(createRequire(import.meta.url).resolve("convex/package.json")));

/** Whether a process is there, and is no zombie. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

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
