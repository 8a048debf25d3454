/** The official command line, unchanged, against a backend process. */

import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ADMIN_KEY, BACKEND_VERSION } from "../versions.ts";
import { eventually, makeProject, MESSAGES, MESSAGES_SCHEMA } from "./harness.ts";

const run = promisify(execFile);
const command = path.join(
  path.dirname(createRequire(import.meta.url).resolve("convex/package.json")),
  "bin",
  "main.js",
);
const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const FLAGS = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];

interface BackendProcess {
  readonly child: ChildProcess;
  readonly ready: { kind: string; port: number; site_port: number; version: string };
  readonly output: { stdout: string; stderr: string };
}

async function startProcess(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<BackendProcess> {
  const child = spawn(process.execPath, [...FLAGS, main, "--ready-fd", "3", "--exit-with-stdin", ...args], {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: { ...env },
  });
  t.after(() => child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (data) => (output.stdout += String(data)));
  child.stderr?.on("data", (data) => (output.stderr += String(data)));
  let text = "";
  (child.stdio[3] as Readable).on("data", (data) => (text += String(data)));
  await eventually(() => text.includes("\n"));
  return { child, ready: JSON.parse(text) as BackendProcess["ready"], output };
}

test("the official command line", async (t) => {
  const { ready } = await startProcess(t, []);
  const url = `http://127.0.0.1:${ready.port}`;
  const project = makeProject(t, {
    "convex/schema.ts": MESSAGES_SCHEMA,
    "convex/messages.ts": `${MESSAGES}\nexport const env = query({ args: {}, handler: async () => process.env.GREETING ?? null });`,
  });
  const convex = async (...args: string[]): Promise<string> => {
    const full = [command, ...args, "--url", url, "--admin-key", ADMIN_KEY];
    const { stdout, stderr } = await run(process.execPath, full, {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: project, CI: "1" },
    });
    return stdout + stderr;
  };

  assert.match(
    await convex("dev", "--once"),
    /Added table indexes:[\s\S]*messages\.by_author[\s\S]*Convex functions ready!/,
  );
  const generated = path.join(project, "convex/_generated/api.d.ts");
  rmSync(generated);
  await convex("codegen");
  assert.match(readFileSync(generated, "utf8"), /messages: typeof messages/);
  assert.match(await convex("run", "messages:send", '{"author":"cli","body":"hi"}'), /^"[0-9a-z]{32}"$/m);
  assert.match(await convex("run", "messages:list"), /"author": "cli"/);
  await convex("env", "set", "GREETING", "hello");
  assert.match(await convex("env", "list"), /GREETING=hello/);
  assert.match(await convex("env", "get", "GREETING"), /hello/);
  assert.match(await convex("run", "messages:env"), /hello/);
  assert.match(await convex("data"), /messages/);
  assert.match(await convex("data", "messages"), /cli/);
  assert.match(await convex("function-spec"), /"identifier": "messages\.js:send"/);
});

test("the process", async (t) => {
  await t.test("says when it is ready, and ends with its stdin", async (tt) => {
    const { child, ready, output } = await startProcess(tt, []);
    assert.deepEqual(
      [ready.kind, ready.version, typeof ready.port, typeof ready.site_port],
      ["ready", BACKEND_VERSION, "number", "number"],
    );
    assert.equal(await (await fetch(`http://127.0.0.1:${ready.port}/version`)).text(), BACKEND_VERSION);
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.stdin?.end();
    assert.equal(await exited, 0);
    assert.deepEqual(output, { stdout: "", stderr: "" });
  });

  await t.test("refuses bad options with one line", async () => {
    const failed = await run(process.execPath, [...FLAGS, main, "--port", "x"], {}).catch(
      (error: { code: number; stderr: string }) => error,
    );
    assert.equal((failed as { code: number }).code, 2);
    assert.match(failed.stderr, /^backend: --port must be a number from 0 to 65535, got x\n$/);
  });

  await t.test("survives what the app leaves behind, and hides its parent's environment", async (tt) => {
    const { ready, output } = await startProcess(tt, ["--log"], { PARENT_SECRET: "s3cret" });
    const project = makeProject(tt, {
      "convex/bad.ts": `"use node";
import { action } from "./_generated/server";
export const leave = action({ args: {}, handler: async () => {
  void Promise.reject(new Error("dangling"));
  setTimeout(() => { throw new Error("in a timer"); }, 1);
  console.log("model text");
  return [JSON.stringify(process.env), JSON.stringify((globalThis as any).process.getBuiltinModule("process").env)];
} });`,
      "convex/bad2.ts": `
import { action, mutation } from "./_generated/server";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const rejects = action({ args: {}, handler: async () => { void Promise.reject(new Error("not awaited")); await pause(5_000); } });
export const rejectsAtTheEnd = action({ args: {}, handler: async () => { void Promise.reject(new Error("not awaited")); return null; } });
export const throwsInATimer = action({ args: {}, handler: async () => { setTimeout(() => { throw new Error("isolate timer"); }, 1); await pause(5_000); } });
export const catchesLate = action({ args: {}, handler: async () => { const late = Promise.reject(new Error("caught")); await null; return await late.catch((error) => error.message); } });`,
    });
    const url = `http://127.0.0.1:${ready.port}`;
    await run(process.execPath, [command, "dev", "--once", "--url", url, "--admin-key", ADMIN_KEY], {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: project, CI: "1" },
    });
    const call = async (udfPath: string): Promise<string> => {
      const body = JSON.stringify({ path: udfPath, args: {}, format: "json" });
      return await (await fetch(`${url}/api/action`, { method: "POST", body })).text();
    };
    assert.doesNotMatch(await call("bad:leave"), /s3cret/);
    await eventually(() => output.stderr.includes("in a timer") && output.stderr.includes("dangling"));
    // get-convex/convex-backend crates/isolate/src/environment/action/mod.rs run_inner
    assert.match(await call("bad2:rejects"), /"error".*Uncaught Error: not awaited/);
    assert.match(await call("bad2:rejectsAtTheEnd"), /"error".*Uncaught Error: not awaited/);
    assert.match(await call("bad2:throwsInATimer"), /"error".*Uncaught Error: isolate timer/);
    assert.match(await call("bad2:catchesLate"), /"success".*"caught"/);
    assert.match(output.stderr, /model text/);
    assert.equal(output.stdout, "");
  });
});
