import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { writeGenerated } from "./generated.ts";
import type { StartPushResponse } from "./official.ts";
import { buildPushRequest } from "./request.ts";
import { ADMIN_KEY, startBackend } from "./test/backend_process.ts";
import { APPS, copyApp, workFolder } from "./test/work_folder.ts";

const run = promisify(execFile);
const convexManifest = createRequire(import.meta.url).resolve("convex/package.json");
const officialCommand = path.join(path.dirname(convexManifest), "bin", "main.js");

/** Every file below a `_generated` folder, with its text. */
function generatedFiles(project: string): Record<string, string> {
  const files = readdirSync(path.join(project, "convex"), { recursive: true, encoding: "utf8" });
  return Object.fromEntries(
    files
      .filter((file) => file.includes("_generated/"))
      .sort()
      .map((file) => [file, readFileSync(path.join(project, "convex", file), "utf8")]),
  );
}

async function startPush(url: string, project: string): Promise<StartPushResponse> {
  const response = await fetch(`${url}/api/deploy2/start_push`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...(await buildPushRequest(project)), adminKey: ADMIN_KEY }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as StartPushResponse;
}

for (const app of APPS) {
  test(`generated code of ${app} is what the official command writes`, async (t) => {
    const folder = workFolder(t);
    const ours = copyApp(app, path.join(folder, "ours"));
    const theirs = copyApp(app, path.join(folder, "theirs"));
    const written = await writeGenerated(ours, await startPush(await startBackend(t), ours));

    const args = ["dev", "--once", "--url", await startBackend(t), "--admin-key", ADMIN_KEY, "--typecheck", "disable"];
    await run(process.execPath, [officialCommand, ...args], {
      cwd: theirs,
      env: { PATH: process.env.PATH, HOME: folder, CI: "1" },
    });

    const expected = generatedFiles(theirs);
    assert.ok(Object.keys(expected).length >= 5);
    assert.deepEqual(generatedFiles(ours), expected);
    assert.deepEqual(
      written,
      Object.keys(expected)
        .map((file) => `convex/${file}`)
        .sort(),
    );
  });
}

const INJECTED =
  'a" }, any> } } = anyApi as any; import { harmless } from "../../lib/hidden.js"; harmless(); export const q: { extra: { f: FunctionReference<"query", "public", { x: "b';

for (const codegen of [{ staticApi: true, fileType: "ts" }, { staticApi: true }]) {
  test(`no text of a validator becomes generated code, with ${JSON.stringify(codegen)}`, async (t) => {
    const project = copyApp("bare", path.join(workFolder(t), "project"));
    const url = await startBackend(t);
    const write = async (text: string): Promise<string[]> => {
      writeFileSync(
        path.join(project, "convex", "extra.ts"),
        `import { v } from "convex/values";
import { query } from "./_generated/server";
export const f = query({ args: { x: v.literal(${JSON.stringify(text)}) }, handler: async () => null });
`,
      );
      return await writeGenerated(project, await startPush(url, project));
    };
    writeFileSync(path.join(project, "convex.json"), JSON.stringify({ codegen }));
    assert.ok((await write("a plain text")).length > 0);
    for (const text of [INJECTED, 'a" | any | "b', "a\\", "a\nb"]) {
      await assert.rejects(write(text), /cannot generate code/, text);
    }
    writeFileSync(path.join(project, "convex.json"), "{}");
    assert.ok((await write(INJECTED)).length > 0);
  });
}
