/** Real apps, bundled by the official code, on a backend in this process. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { buildPushRequest } from "../../push/request.ts";
import { startBackend, type Backend, type BackendOptions } from "../server.ts";
import { ADMIN_KEY } from "../versions.ts";

/** File contents by path below the project folder. */
export type Files = Readonly<Record<string, string>>;

/** Whether tests run in full size. */
export const SOAK = process.env["SOAK"] === "1";

// The apps of these tests exist only at run time: there is no type to be had.
export const api = anyApi as any;

const packages = path.dirname(path.dirname(createRequire(import.meta.url).resolve("convex/package.json")));

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "backend-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder of packages that are linked into projects, as trials have one; besides `files` it has `convex`. */
export function makePackages(t: TestContext, files: Files): string {
  const store = path.join(temporaryFolder(t), "node_modules");
  mkdirSync(store);
  symlinkSync(path.join(packages, "convex"), path.join(store, "convex"));
  writeAll(store, files);
  return store;
}

/** A project folder that is gone after the test, with the packages of `store`. */
export function makeProject(t: TestContext, files: Files, store?: string): string {
  const folder = temporaryFolder(t);
  if (store === undefined) symlinkSync(packages, path.join(folder, "node_modules"));
  else {
    mkdirSync(path.join(folder, "node_modules"));
    for (const name of readdirSync(store)) {
      symlinkSync(path.join(store, name), path.join(folder, "node_modules", name));
    }
  }
  const all: Files = { "package.json": JSON.stringify({ name: "app", dependencies: { convex: "*" } }), ...files };
  writeAll(folder, all);
  return folder;
}

function writeAll(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

export interface PushAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<PushAnswer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

export async function startPush(backend: Pick<Backend, "url">, project: string): Promise<PushAnswer> {
  return await post(`${backend.url}/api/deploy2/start_push`, {
    ...(await buildPushRequest(project)),
    adminKey: ADMIN_KEY,
  });
}

/** The three requests of a push; stops at the first that fails. */
export async function push(backend: Pick<Backend, "url">, project: string): Promise<PushAnswer> {
  const started = await startPush(backend, project);
  if (started.status !== 200) return started;
  const { schemaChange } = started.body;
  const waited = await post(`${backend.url}/api/deploy2/wait_for_schema`, {
    adminKey: ADMIN_KEY,
    schemaChange,
    timeoutMs: 1000,
    dryRun: false,
  });
  if (waited.body["type"] !== "complete") return waited;
  return await post(`${backend.url}/api/deploy2/finish_push`, {
    adminKey: ADMIN_KEY,
    startPush: started.body,
    dryRun: false,
  });
}

export interface TestApp {
  readonly backend: Backend;
  readonly http: ConvexHttpClient;
  readonly admin: ConvexHttpClient;
  /** A WebSocket client that is closed after the test. */
  connect(): ConvexClient;
  redeploy(files: Files): Promise<PushAnswer>;
}

export async function emptyBackend(t: TestContext, options: BackendOptions = {}): Promise<Backend> {
  const backend = await startBackend(options);
  t.after(() => backend.close());
  return backend;
}

/** A backend with `files` deployed. */
export async function deploy(t: TestContext, files: Files, options: BackendOptions = {}): Promise<TestApp> {
  const backend = await emptyBackend(t, options);
  const redeploy = async (next: Files): Promise<PushAnswer> => await push(backend, makeProject(t, next));
  const finished = await redeploy(files);
  assert.equal(finished.status, 200, JSON.stringify(finished.body));
  const admin = new ConvexHttpClient(backend.url, { logger: false });
  (admin as unknown as { setAdminAuth(key: string): void }).setAdminAuth(ADMIN_KEY);
  return {
    backend,
    http: new ConvexHttpClient(backend.url, { logger: false }),
    admin,
    redeploy,
    connect: () => {
      const client = new ConvexClient(backend.url, { logger: false });
      t.after(() => client.close());
      return client;
    },
  };
}

/** Waits until `probe` returns something truthy. */
export async function eventually<T>(probe: () => T | Promise<T>, timeoutMs = 5000): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`did not happen within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The message of the error that `run` must throw. */
export async function errorOf(run: () => Promise<unknown>): Promise<Error & { data?: unknown }> {
  try {
    await run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected a failure");
}

export const MESSAGES_SCHEMA = `
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({
  messages: defineTable({ author: v.string(), body: v.string() }).index("by_author", ["author"]),
  counters: defineTable({ name: v.string(), value: v.number() }),
});
`;

export const MESSAGES = `
import { query, mutation } from "./_generated/server";
import { v } from "convex/values";
export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("messages").collect() });
export const send = mutation({
  args: { author: v.string(), body: v.string() },
  returns: v.id("messages"),
  handler: async (ctx, args) => await ctx.db.insert("messages", args),
});
`;
