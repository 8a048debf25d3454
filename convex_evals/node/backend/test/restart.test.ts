/** Backends that keep their data: ended in every way, and started again. */

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ConvexHttpClient } from "convex/browser";
import { ADMIN_KEY } from "../versions.ts";
import { startBackend, type Backend } from "../server.ts";
import { api, makeProject, post, push, SOAK } from "./harness.ts";

const APP = {
  "convex/schema.ts": `import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
    export default defineSchema({ notes: defineTable({ n: v.number(), text: v.string() }).index("by_text", ["text"]) });`,
  "convex/notes.ts": `import { query, mutation, action, internalMutation, internalAction } from "./_generated/server";
    import { internal } from "./_generated/api"; import { v } from "convex/values";
    export const add = mutation({ args: { n: v.number(), text: v.string() }, handler: (ctx, args) => ctx.db.insert("notes", args) });
    export const list = query({ args: {}, handler: async (ctx) => (await ctx.db.query("notes").collect()).map((note) => note.n) });
    export const find = query({ args: { text: v.string() }, handler: async (ctx, { text }) =>
      (await ctx.db.query("notes").withIndex("by_text", (q) => q.eq("text", text)).collect()).map((note) => note.n) });
    export const later = mutation({ args: { ms: v.number() }, handler: (ctx, { ms }) =>
      ctx.scheduler.runAfter(ms, internal.notes.addLater, { n: 7 }) });
    export const addLater = internalMutation({ args: { n: v.number() }, handler: async (ctx, { n }) => { await ctx.db.insert("notes", { n, text: "later" }); } });
    export const hang = internalAction({ args: {}, handler: () => new Promise((resolve) => setTimeout(resolve, 60_000)) });
    export const hangSoon = mutation({ args: {}, handler: (ctx) => ctx.scheduler.runAfter(0, internal.notes.hang, {}) });
    export const job = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => (await ctx.db.system.get(id))?.state });
    export const store = action({ args: { text: v.string() }, handler: async (ctx, { text }) => {
      const id = await ctx.storage.store(new Blob([text], { type: "text/plain" })); return { id, url: await ctx.storage.getUrl(id) }; } });
    export const remove = mutation({ args: { id: v.id("_storage") }, handler: (ctx, { id }) => ctx.storage.delete(id) });
    export const uploadUrl = mutation({ args: {}, handler: (ctx) => ctx.storage.generateUploadUrl() });
    const loaded = [Date.now(), Math.random()];
    export const loadPhase = query({ args: {}, handler: () => loaded });
    export const variable = query({ args: {}, handler: () => process.env.NAME ?? null });`,
};

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "restart-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface StoredFile {
  readonly id: string;
  readonly url: string;
}

async function started(folder: string): Promise<{ backend: Backend; client: ConvexHttpClient }> {
  const onFatal = (line: string): never => assert.fail(line);
  const onWarning = (line: string): never => assert.fail(line);
  const backend = await startBackend({ data: { folder, onFatal, onWarning } });
  return { backend, client: new ConvexHttpClient(backend.url, { logger: false }) };
}

test("what was deployed, written, stored and scheduled is there after a restart", async (t) => {
  const folder = temporaryFolder(t);
  const first = await spawned(folder);
  t.after(() => first.process.kill("SIGKILL"));
  assert.equal((await push(first, makeProject(t, APP))).status, 200);
  const changes = [{ name: "NAME", value: "kept" }];
  const set = await post(
    `${first.url}/api/update_environment_variables`,
    { changes },
    { authorization: `Convex ${ADMIN_KEY}` },
  );
  assert.equal(set.status, 200);
  for (const n of [1, 2]) await first.client.mutation(api.notes.add, { n, text: `note ${n}` });
  const file: StoredFile = await first.client.action(api.notes.store, { text: "content" });
  const gone: StoredFile = await first.client.action(api.notes.store, { text: "gone" });
  await first.client.mutation(api.notes.remove, { id: gone.id });
  const upload = new URL(await first.client.mutation(api.notes.uploadUrl, {}));
  await first.client.mutation(api.notes.later, { ms: 1500 });
  const hanging = await first.client.mutation(api.notes.hangSoon, {});
  while ((await first.client.query(api.notes.job, { id: hanging }))?.kind === "pending") await pause(20);
  const loaded: unknown = await first.client.query(api.notes.loadPhase, {});
  await killed(first);

  const { backend, client } = await started(folder);
  t.after(() => backend.close());
  assert.deepEqual(await client.query(api.notes.loadPhase, {}), loaded, "modules find the time of their push");
  assert.deepEqual(await client.query(api.notes.list, {}), [1, 2]);
  assert.deepEqual(await client.query(api.notes.find, { text: "note 2" }), [2]);
  assert.equal(await client.query(api.notes.variable, {}), "kept");
  const here = (url: string): string => `${backend.url}${new URL(url).pathname}${new URL(url).search}`;
  const download = await fetch(here(file.url));
  assert.equal(await download.text(), "content");
  assert.equal(download.headers.get("content-type"), "text/plain");
  assert.equal((await fetch(here(gone.url))).status, 404);
  const uploaded = await fetch(here(upload.href), { method: "POST", body: "more" });
  assert.equal(uploaded.status, 200, "a URL for uploads stays good for its hour");
  assert.deepEqual(await client.query(api.notes.job, { id: hanging }), {
    kind: "failed",
    error: "Transient error while executing action",
  });
  const list = async (): Promise<number[]> => await client.query(api.notes.list, {});
  while (!(await list()).includes(7)) await pause(50);
  await client.mutation(api.notes.add, { n: 3, text: "new" });
  assert.deepEqual(await client.query(api.notes.list, {}), [1, 2, 7, 3]);
});

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
  readonly client: ConvexHttpClient;
}

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const FLAGS = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];

/** A backend in a process of its own; `shell` is set before, such as `ulimit -f 64`. */
async function spawned(folder: string, shell = ":"): Promise<Running> {
  const script = `${shell}; exec "$0" "$@"`;
  const child = spawn("bash", ["-c", script, process.execPath, ...FLAGS, MAIN, "--data", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return { process: child, url, client: new ConvexHttpClient(url, { logger: false }) };
}

async function killed({ process: child }: Running): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function deployedFolder(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  const { backend } = await started(folder);
  assert.equal((await push(backend, makeProject(t, APP))).status, 200);
  await backend.close();
  return folder;
}

test(`nothing that was acknowledged is lost to kill -9 under load`, async (t) => {
  const folder = await deployedFolder(t);
  const acknowledged = new Set<number>();
  let next = 0;
  for (let round = 0; round < (SOAK ? 50 : 4); round++) {
    const running = await spawned(folder);
    t.after(() => running.process.kill("SIGKILL"));
    const present: number[] = await running.client.query(api.notes.list, {});
    assert.equal(new Set(present).size, present.length, "nothing is there twice");
    for (const n of acknowledged) assert.ok(present.includes(n), `round ${round}: ${n} was acknowledged`);
    const load = Array.from({ length: 8 }, async () => {
      for (;;) {
        const n = next++;
        try {
          await running.client.mutation(api.notes.add, { n, text: "x".repeat(n % 2000) });
        } catch {
          return;
        }
        acknowledged.add(n);
      }
    });
    await pause(100 + Math.random() * 300);
    await killed(running);
    await Promise.all(load);
  }
  assert.ok(acknowledged.size > 20, `${acknowledged.size} acknowledged`);
});

test("a full disk refuses what is written, and takes nothing away", async (t) => {
  const folder = await deployedFolder(t);
  const blocks = Math.ceil(statSync(path.join(folder, "log-00000000")).size / 1024) + 50;
  // Files end there, as a full disk would end them.
  const running = await spawned(folder, `ulimit -f ${blocks}`);
  t.after(() => running.process.kill("SIGKILL"));
  const kept: number[] = [];
  const text = "x".repeat(5000);
  const refusal = await (async () => {
    for (let n = 0; n < 100; n++) {
      try {
        await running.client.mutation(api.notes.add, { n, text });
      } catch (error) {
        return error as Error;
      }
      kept.push(n);
    }
    return null;
  })();
  assert.match(String(refusal?.message), /log-00000000: cannot be written \(file too large\); nothing was changed/);
  assert.ok(kept.length > 0);
  assert.deepEqual(await running.client.query(api.notes.list, {}), kept, "what is there can still be read");
  await assert.rejects(running.client.mutation(api.notes.add, { n: -1, text }));
  await killed(running);

  const again = await spawned(folder);
  t.after(() => again.process.kill("SIGKILL"));
  assert.deepEqual(await again.client.query(api.notes.list, {}), kept);
  await again.client.mutation(api.notes.add, { n: 1000, text });
  assert.deepEqual(await again.client.query(api.notes.list, {}), [...kept, 1000]);
});

test("a job that falls due on a full disk runs once there is room again", async (t) => {
  const folder = await deployedFolder(t);
  const blocks = Math.ceil(statSync(path.join(folder, "log-00000000")).size / 1024) + 30;
  const running = await spawned(folder, `ulimit -S -f ${blocks}`);
  t.after(() => running.process.kill("SIGKILL"));
  const list = async (): Promise<number[]> => await running.client.query(api.notes.list, {});
  await running.client.mutation(api.notes.later, { ms: 1000 });
  for (const text of ["x".repeat(2000), "x", ""]) {
    const full = async (): Promise<never> => {
      for (;;) await running.client.mutation(api.notes.add, { n: 1, text });
    };
    await assert.rejects(full, /nothing was changed/);
  }
  await pause(1500);
  assert.ok(!(await list()).includes(7));
  execFileSync("prlimit", ["--pid", String(running.process.pid), "--fsize=unlimited:"]);
  while (!(await list()).includes(7)) await pause(50);
  await pause(1500);
  assert.equal((await list()).filter((n) => n === 7).length, 1);
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
