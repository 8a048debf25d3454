/** `npx convex` on an app with an npm component, a local component and a "use node" module: https://docs.convex.dev/cli */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { ConvexHttpClient } from "convex/browser";
import { api, emptyBackend, eventually } from "../test/harness.ts";
import { copyApp } from "./test/app.ts";
import { convex, startConvex } from "./test/command_line.ts";

test("the official command on an app with components and a Node module", async (t) => {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "clients-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { url } = await emptyBackend(t);
  const project = copyApp("workshop", path.join(folder, "workshop"));
  const run = async (...args: string[]): Promise<string> => (await convex(project, url, args)).stdout;
  const failure = async (...args: string[]): Promise<string> =>
    await convex(project, url, args).then(
      () => "succeeded",
      (error: { stderr: string }) => error.stderr,
    );
  const http = new ConvexHttpClient(url, { logger: false });

  await t.test("dev --once deploys and runs", async () => {
    const { stdout, stderr } = await convex(project, url, ["dev", "--once", "--run", "orders:stock"]);
    assert.match(
      stderr,
      /Installed component rateLimiter[\s\S]*Installed component stock[\s\S]*Convex functions ready!/,
    );
    assert.equal(stdout, "{}\n");
  });

  await t.test("env set, get, list and remove", async () => {
    await run("env", "set", "RECEIPT_KEY", "k3y");
    await run("env", "set", "OTHER=a=b");
    assert.deepEqual(await Promise.all([run("env", "get", "RECEIPT_KEY"), run("env", "list")]), [
      "k3y\n",
      "OTHER=a=b\nRECEIPT_KEY=k3y\n",
    ]);
    await run("env", "remove", "OTHER");
    const [list, missing] = await Promise.all([run("env", "list"), convex(project, url, ["env", "get", "OTHER"])]);
    assert.equal(list, "RECEIPT_KEY=k3y\n");
    assert.match(missing.stderr, /"OTHER" not found/);
    assert.match(await failure("env", "set", "not a name", "x"), /Invalid environment variable name|not a name/);
  });

  await t.test("run: actions through both components and Node, identities, components, errors", async () => {
    const receipt = createHmac("sha256", "k3y").update("5 x bolt").digest("base64url");
    assert.deepEqual(JSON.parse(await run("run", "orders:place", '{"name":"bolt","count":5}')), { total: 5, receipt });
    const identity = '{"subject":"ada","issuer":"https://id.example.com","name":"Ada"}';
    const [internal, inComponent, asAda] = await Promise.all([
      run("run", "orders:record", '{"name":"bolt","count":2}'),
      run("run", "--component", "stock", "parts:add", '{"name":"nut","count":1}'),
      run("run", "--identity", identity, "orders:whoami"),
    ]);
    assert.deepEqual(
      [internal, inComponent, JSON.parse(asAda)],
      ["7\n", "1\n", { name: "Ada", token: "https://id.example.com|ada" }],
    );
    const [invalid, unknown] = await Promise.all([
      failure("run", "orders:place", '{"name":"bolt"}'),
      failure("run", "orders:nothing"),
    ]);
    assert.match(invalid, /ArgumentValidationError: Object is missing the required field `count`/);
    assert.match(unknown, /Could not find function for 'orders:nothing'/);
    assert.deepEqual(await http.query(api.orders.stock), { bolt: 7, nut: 1 });
  });

  await t.test("data of the app and of a component", async () => {
    const [tables, documents, oldest] = await Promise.all([
      run("data", "--component", "stock"),
      run("data", "parts", "--component", "stock"),
      run("data", "parts", "--component", "stock", "--limit", "1", "--order", "asc"),
    ]);
    assert.equal(tables, "parts\n");
    assert.match(documents, /count\s*\|\s*name[\s\S]*"nut"[\s\S]*"bolt"/);
    assert.match(oldest, /"bolt"/);
    assert.doesNotMatch(oldest, /"nut"/);
  });

  await t.test("logs follow what functions print", async (tt) => {
    const logs = startConvex(tt, project, url, ["logs", "--history", "100"]);
    await eventually(() => logs.text().includes("order"), 10_000);
    await http.action(api.orders.place, { name: "screw", count: 1 });
    await eventually(() => /\[CONVEX A\(orders:place\)\][\s\S]*'screw'/.test(logs.text()), 10_000);
  });

  await t.test("a second deployment says what it changes, and a refused one leaves the running one alone", async () => {
    writeFileSync(
      path.join(project, "convex/schema.ts"),
      `import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ notes: defineTable({ text: v.string() }).index("by_text", ["text"]) });`,
    );
    assert.match(
      (await convex(project, url, ["dev", "--once", "--typecheck", "disable"])).stderr,
      /\[\+\] notes\.by_text/,
    );
    writeFileSync(path.join(project, "convex/broken.ts"), 'export const broken = 1; throw new Error("at import");');
    assert.match(await failure("dev", "--once", "--typecheck", "disable"), /at import/);
    assert.deepEqual(await http.query(api.orders.stock), { bolt: 7, nut: 1, screw: 1 });
  });
});
