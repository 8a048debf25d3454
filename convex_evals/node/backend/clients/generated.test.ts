/** Every app is deployed by the official command, which writes the same `_generated` as we do; the apps type-check with it. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { writeGenerated } from "../../push/generated.ts";
import type { StartPushResponse } from "../../push/official.ts";
import { emptyBackend, startPush } from "../test/harness.ts";
import { APPS, copyApp } from "./test/app.ts";
import { convex } from "./test/command_line.ts";
import { identityProvider } from "./test/identity_provider.ts";

const run = promisify(execFile);
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

function generatedFiles(project: string): Record<string, string> {
  const files = readdirSync(path.join(project, "convex"), { recursive: true, encoding: "utf8" }).filter((file) =>
    /_generated\/.+\./.test(file),
  );
  return Object.fromEntries(
    files.sort().map((file) => [file, readFileSync(path.join(project, "convex", file), "utf8")]),
  );
}

test("the apps, deployed by the official command", async (t) => {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "clients-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const backend = await emptyBackend(t, { env: { AUTH_JWKS: identityProvider().jwks } });

  for (const app of APPS) {
    await t.test(`generated code of ${app}`, async () => {
      const theirs = copyApp(app, path.join(folder, "theirs", app));
      const ours = copyApp(app, path.join(folder, "ours", app));
      const { stderr } = await convex(theirs, backend.url, ["dev", "--once", "--typecheck", "disable"]);
      assert.match(stderr, /Convex functions ready!/);
      const started = await startPush(backend, ours);
      assert.equal(started.status, 200, JSON.stringify(started.body));
      await writeGenerated(ours, started.body as unknown as StartPushResponse);
      const expected = generatedFiles(theirs);
      assert.ok(Object.keys(expected).length >= 5, Object.keys(expected).join());
      assert.deepEqual(generatedFiles(ours), expected);
    });
  }

  await t.test("types", async () => {
    const compilerOptions = {
      target: "ESNext",
      lib: ["ES2023", "DOM", "DOM.Iterable"],
      module: "ESNext",
      moduleResolution: "Bundler",
      jsx: "react-jsx",
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: ["node"],
    };
    writeFileSync(
      path.join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["ours/*/convex", "ours/*/src"] }),
    );
    const { stdout } = await run(process.execPath, [
      tsc,
      "-p",
      folder,
      "--typeRoots",
      path.join(folder, "ours/chat/node_modules/@types"),
    ]).catch((error: { stdout: string }) => error);
    assert.equal(stdout, "");
  });
});
