/**
 * Grades a sample once with everything that build.ts made, so that the code of the functions that gradings call is kept
 * beside the bundles (`code_cache.ts`).
 *
 *     node record.ts
 */
import assert from "node:assert/strict";
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { compileGrader } from "./checker/compile_grader.ts";
import { RECORDING } from "./code_cache.ts";
import { ADMIN_KEY } from "./grader/connection.ts";
import { eventually } from "./grader/eventually.ts";
import { Page, PAGE_FLAGS } from "./grader/page.ts";
import { buildPushRequest } from "./push/request.ts";
import { CONDITIONS } from "./tester/resolution.ts";
import type { Verdict } from "./tester/verdict.ts";

const here = path.dirname(fileURLToPath(import.meta.url));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, [RECORDING]: "1" };
const TEST_TIMEOUT_MS = 30_000;

interface Ready {
  port: number;
  site_port: number;
}

async function started(): Promise<{ child: ChildProcess; ports: Ready }> {
  // V8 refuses compiled code under other flags.
  const flags = JSON.parse(readFileSync(path.join(here, "backend", "flags.json"), "utf8")) as string[];
  const argv = [...flags, path.join(here, "backend", "app", "backend.bundle.mjs"), "--exit-with-stdin"];
  const child = spawn(process.execPath, argv, { env, stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, ports: JSON.parse(line) as Ready };
}

async function deploy(project: string, port: number): Promise<void> {
  const post = async (step: string, body: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/deploy2/${step}`, {
      method: "POST",
      body: JSON.stringify({ ...body, adminKey: ADMIN_KEY, dryRun: false }),
    });
    if (!response.ok) throw new Error(`${step}: ${await response.text()}`);
    return await response.json();
  };
  const startPush = (await post("start_push", await buildPushRequest(project))) as { schemaChange: unknown };
  await post("wait_for_schema", { schemaChange: startPush.schemaChange, timeoutMs: 10_000 });
  await post("finish_push", { startPush });
}

async function test(project: string, ports: Ready): Promise<Verdict> {
  const compilation = await compileGrader(path.join(project, "grader.ts"), project, []);
  if ("reason" in compilation) throw new Error(compilation.reason);
  const compiled = path.join(project, "compiled.json");
  writeFileSync(compiled, JSON.stringify(compilation.compiled));
  const conditions = CONDITIONS.flatMap((name) => ["--conditions", name]);
  const argv = [
    ...conditions,
    path.join(here, "tester", "direct.bundle.mjs"),
    "--suite",
    project,
    "--test-timeout",
    String(TEST_TIMEOUT_MS),
  ];
  const [verdict, input] = [path.join(project, "verdict.json"), openSync(compiled, "r")];
  const output = openSync(verdict, "w");
  const child = spawn(process.execPath, argv, {
    env: {
      ...env,
      MODEL_OUTPUT_DIR: project,
      CONVEX_PORT: String(ports.port),
      CONVEX_SITE_PORT: String(ports.site_port),
    },
    stdio: ["pipe", "ignore", "inherit", output, input],
  });
  closeSync(output);
  closeSync(input);
  child.stdin!.write("token\n");
  await once(child, "exit");
  return JSON.parse(readFileSync(verdict, "utf8")) as Verdict;
}

/** The same page as in the grader, whose own is killed. */
async function show(project: string, ports: Ready): Promise<void> {
  const child = fork(path.join(here, "grader", "page_process.bundle.mjs"), {
    env: { ...env, MODEL_OUTPUT_DIR: project },
    execArgv: [...PAGE_FLAGS],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const page = new Page(child);
  await page.start("src/App.tsx", `http://localhost:${ports.port}`);
  await eventually(async () => assert.deepEqual(await page.texts("ul"), [""]), { what: "the list" });
  await page.fill("input", "typed");
  await page.click("button");
  await eventually(async () => assert.deepEqual(await page.texts("li"), ["typed"]), { what: "the note" });
  assert.deepEqual(
    [await page.text(), await page.values("input"), await page.states("button"), await page.errors()],
    ["typedAdd", [""], ["disabled"], []],
  );
  child.disconnect();
  await once(child, "exit");
}

// Below our own packages, and where nothing that is left over is taken for a source.
const project = realpathSync(mkdtempSync(path.join(here, "build", "sample-")));
try {
  cpSync(path.join(here, "sample"), project, { recursive: true });
  const { child, ports } = await started();
  try {
    await deploy(project, ports.port);
    await show(project, ports);
    const { tests, errors } = await test(project, ports);
    const failures = [...tests.filter(({ outcome }) => outcome !== "passed"), ...errors];
    if (tests.length === 0 || failures.length > 0) throw new Error(`the sample fails: ${JSON.stringify(failures)}`);
  } finally {
    child.stdin!.end();
    await once(child, "exit");
  }
} finally {
  rmSync(project, { recursive: true, force: true });
}
