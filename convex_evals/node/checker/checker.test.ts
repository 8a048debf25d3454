import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ADMIN_KEY, startBackend } from "../push/test/backend_process.ts";
import { APPS, copyApp, workFolder } from "../push/test/work_folder.ts";
import { addFiles } from "./test/projects.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

interface Answer {
  id: unknown;
  ok: boolean;
  result?: any;
  error?: { kind: string; message: string };
  retire?: boolean;
}

/** The checker as a process, asked one thing at a time. */
class Checker {
  readonly process: ChildProcess;
  private readonly answers: AsyncIterator<string>;
  private id = 0;

  constructor(t: TestContext) {
    this.process = spawn(process.execPath, [main], { stdio: ["pipe", "pipe", "inherit"] });
    t.after(() => this.process.kill("SIGKILL"));
    this.answers = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  async ask(op: string, fields: object = {}): Promise<Answer> {
    this.id += 1;
    const answer = await this.send(JSON.stringify({ id: this.id, op, ...fields }));
    assert.equal(answer.id, this.id);
    return answer;
  }

  async send(line: string): Promise<Answer> {
    this.process.stdin!.write(`${line}\n`);
    const { value } = await this.answers.next();
    return JSON.parse(value as string) as Answer;
  }
}

test("a project goes through bundle, codegen, type check and lint, five apps in one process", async (t) => {
  const checker = new Checker(t);
  const folder = workFolder(t);
  for (const app of APPS) {
    const project = copyApp(app, path.join(folder, app));
    const [push, response] = [path.join(folder, `${app}.push.json`), path.join(folder, `${app}.response.json`)];
    const sources = path.join(folder, `${app}.sources.json`);
    const bundled = await checker.ask("bundle", { project, out: push, sources });
    assert.deepEqual(bundled.result, { functions: "convex/", warnings: [] });

    const request = { ...(JSON.parse(readFileSync(push, "utf8")) as object), adminKey: ADMIN_KEY };
    const started = await fetch(`${await startBackend(t)}/api/deploy2/start_push`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    assert.equal(started.status, 200);
    writeFileSync(response, await started.text());

    const { written } = (await checker.ask("codegen", { project, response })).result as { written: string[] };
    assert.ok(written.includes("convex/_generated/api.d.ts"));
    const checked = await checker.ask("typecheck", { project, sources });
    assert.deepEqual(checked.result.diagnostics, [], app);
    assert.ok(checked.result.files >= 4);
    assert.deepEqual((await checker.ask("lint", { project, sources })).result, { ok: true, problems: [] });
  }
});

test("faults are told apart: the project's, the caller's", async (t) => {
  const checker = new Checker(t);
  const project = copyApp("bare", path.join(workFolder(t), "project"));
  addFiles(project, { "convex/broken.ts": "export const a = ;\n" });
  const out = path.join(project, "push.json");
  assert.equal((await checker.ask("bundle", { project, out })).error?.kind, "deploy");
  assert.equal((await checker.ask("bundle", { project: "/nowhere", out })).error?.kind, "bad_request");
  assert.equal((await checker.ask("bundle", { project })).error?.kind, "bad_request");
  assert.match((await checker.ask("toString")).error?.message ?? "", /unknown op 'toString'/);
  assert.equal((await checker.send("not json")).error?.kind, "bad_request");
  assert.equal((await checker.ask("versions")).ok, true);
});

test("versions name what verdicts depend on", async (t) => {
  const { result } = await new Checker(t).ask("versions");
  assert.equal(result.node, process.versions.node);
  for (const name of ["typescript", "eslint", "typescript-eslint", "esbuild", "convex", "convex-test", "vitest"]) {
    assert.match(result[name], /^\d+\.\d+\.\d+/, name);
  }
  assert.match(result.rules, /^[0-9a-f]{16}$/);
});

test("graders are read with their relative imports", async (t) => {
  const suite = workFolder(t);
  addFiles(suite, {
    "tsconfig.json": "{ broken",
    "evals/a/grader.test.ts":
      'import { test } from "vitest";\nimport type { T } from "./types";\nimport { h } from "../../grader";\nimport "unknown-package";\ntest(h, () => {});\nexport type U = T;\n',
    "evals/a/types.ts": "export type T = 1;\n",
    "evals/b/grader.test.ts": "const = 1;\n",
    "evals/c/grader.test.ts": '\nimport "./lost";\n',
    "grader/index.ts": 'export { h } from "./inner";\n',
    "grader/inner.ts": 'import data from "./data.json";\nexport const h = data.name;\n',
    "grader/data.json": '{ "name": "x" }',
  });
  const files = ["evals/a/grader.test.ts", path.join(suite, "evals/b/grader.test.ts"), "evals/c/grader.test.ts"];
  const { result } = await new Checker(t).ask("graders", { suite, files });
  assert.deepEqual(result[0], {
    file: "evals/a/grader.test.ts",
    errors: [],
    inputs: ["evals/a/grader.test.ts", "grader/data.json", "grader/index.ts", "grader/inner.ts"],
  });
  assert.deepEqual(result[1].errors, [
    { file: "evals/b/grader.test.ts", line: 1, column: 7, message: 'Expected identifier but found "="' },
  ]);
  assert.deepEqual(result[2].errors, [
    { file: "evals/c/grader.test.ts", line: 2, column: 8, message: 'Could not resolve "./lost"' },
  ]);
});

test("packages that graders import are found, those of answers apart", async (t) => {
  const suite = workFolder(t);
  addFiles(suite, {
    "evals/a/grader.test.ts":
      '// @vitest-environment jsdom\nimport { test } from "vitest";\nimport unused from "unused";\nimport type { T } from "types-alone";\nimport "../../grader";\nimport { api } from "./answer/convex/_generated/api";\nimport fs from "node:fs";\nimport path from "path";\nconst told = "mentioned";\n',
    "evals/a/answer/convex/_generated/api.ts": 'import "of-the-answer";\nexport const api = {};\n',
    "evals/b/grader.test.ts": 'const = 1;\nimport "lost";\n',
    "evals/c/grader.test.ts": 'const x = await import("@scope/dynamic/deep/x.js");\nimport "./lost";\n',
    "grader/index.ts": 'export * from "./inner";\n',
    "grader/inner.ts": 'export * from "exported/sub";\nrequire("required");\n',
  });
  const files = [
    "evals/a/grader.test.ts",
    "evals/b/grader.test.ts",
    "evals/c/grader.test.ts",
    "evals/d/grader.test.ts",
  ];
  const { result } = await new Checker(t).ask("grader_packages", { suite, files });
  assert.deepEqual(result, ["@scope/dynamic", "exported", "jsdom", "required", "unused", "vitest"]);
  assert.deepEqual((await new Checker(t).ask("grader_packages", { suite, files: [] })).result, []);
});

test("the end of stdin ends the checker, esbuild's service included", async (t) => {
  const checker = new Checker(t);
  const project = copyApp("bare", path.join(workFolder(t), "project"));
  await checker.ask("bundle", { project, out: path.join(project, "push.json") });
  const ended = new Promise((resolve) => checker.process.on("exit", resolve));
  checker.process.stdin!.end();
  assert.equal(await ended, 0);
});

/** Processes that `parent` started, by the name of their program. */
function childrenOf(parent: number): { pid: number; name: string }[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.flatMap((pid) => {
    try {
      const [, name = "", rest = ""] = /\((.*)\) \S+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      return Number(rest) === parent ? [{ pid, name }] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

test("without esbuild no project is at fault, and another process takes over", async (t) => {
  const checker = new Checker(t);
  const project = copyApp("bare", path.join(workFolder(t), "project"));
  const out = path.join(project, "push.json");
  const first = await checker.ask("bundle", { project, out });
  assert.deepEqual([first.ok, first.retire], [true, undefined]);
  const services = childrenOf(checker.process.pid!).filter(({ name }) => name === "esbuild");
  assert.equal(services.length, 1);
  process.kill(services[0]!.pid, "SIGKILL");
  const next = await checker.ask("bundle", { project, out });
  assert.equal(next.error?.kind, "internal", JSON.stringify(next));
  assert.equal(next.retire, true);
});

test("a process that checks an honest project serves the next one, too", async (t) => {
  const checker = new Checker(t);
  const project = copyApp("schema", path.join(workFolder(t), "project"));
  addFiles(project, {
    "src/use_it.ts": 'import { useState } from "react";\nexport const useIt = (): unknown => useState(1);\n',
  });
  const sources = path.join(project, "sources.json");
  for (const [op, fields] of [
    ["bundle", { out: path.join(project, "push.json"), sources }],
    ["typecheck", {}],
    ["lint", {}],
  ] as const) {
    const answer = await checker.ask(op, { project, ...fields });
    assert.deepEqual([answer.error, answer.retire], [undefined, undefined], op);
  }
});

test("what a project makes of the definition of its app is bundled for it alone", async (t) => {
  const checker = new Checker(t);
  const folder = workFolder(t);
  const bundle = async (name: string, files: Record<string, string>): Promise<string> => {
    const project = copyApp("schema", path.join(folder, name, "project"));
    addFiles(project, files);
    const out = path.join(folder, name, "push.json");
    const answer = await checker.ask("bundle", { project, out });
    assert.equal(answer.retire, undefined);
    return answer.ok ? readFileSync(out, "utf8").replaceAll(project, "") : "";
  };
  const elsewhere = "node_modules/convex/dist/cjs/values/index.js";
  const paths = (target: string): string =>
    JSON.stringify({ compilerOptions: { paths: { "convex/server": [target] } } });
  const hostile: Record<string, string>[] = [
    { "jsconfig.json": paths(`./${elsewhere}`) },
    { "convex/jsconfig.json": paths(`../${elsewhere}`) },
    { "convex/tsconfig.json": '{"extends": "./more.json"}', "convex/more.json": paths(`../${elsewhere}`) },
    { "convex/package.json": JSON.stringify({ browser: { "convex/server": `../${elsewhere}` } }) },
  ];
  const poisoned: string[] = [];
  for (const [index, files] of hostile.entries()) poisoned.push(await bundle(`hostile${index}`, files));
  const after = await bundle("after", {});
  const fresh = new Checker(t);
  const alone = copyApp("schema", path.join(folder, "alone", "project"));
  const out = path.join(folder, "alone", "push.json");
  await fresh.ask("bundle", { project: alone, out });
  assert.equal(after, readFileSync(out, "utf8").replaceAll(alone, ""));
  assert.ok(!poisoned.includes(after), "the attack changes what it bundles itself");
});
