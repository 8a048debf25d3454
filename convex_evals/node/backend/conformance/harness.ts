/**
 * The conformance table: one row is one sentence of Convex's rules, an app that
 * meets or breaks it, and what Convex answers.
 *
 * Every row gets a backend of its own, in this process: nothing that one row
 * stores can help or harm the next. Apps with the same files are bundled once.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import { buildPushRequest, type PushRequest } from "../../push/request.ts";
import { startBackend, type Backend, type BackendOptions } from "../server.ts";
import { makeProject, post, type Files } from "../test/harness.ts";
import { ADMIN_KEY } from "../versions.ts";

export type { Files };

/** Who calls: nobody in particular, the owner of the deployment, the owner as a user, or the bearer of a JWT. */
export type As = "client" | "admin" | { readonly identity: object } | { readonly token: string };

/** Values that earlier steps returned; null for steps without a value. */
export type Results = readonly unknown[];

type Args = Readonly<Record<string, unknown>>;

export type Step =
  /** Calls a function as clients do. `eventually` repeats it until the expectation holds. */
  | {
      readonly call: "query" | "mutation" | "action";
      readonly path: string;
      readonly args?: Args | ((results: Results) => Args);
      readonly as?: As;
      readonly eventually?: boolean;
    }
  /** Pushes other files over the running app. */
  | { readonly deploy: Files }
  /** An HTTP request to the site of the app, or to an absolute URL; its value is `{ status, body }`, the body without the request's id, and `header` if asked. */
  | {
      readonly request: string | ((results: Results) => string);
      readonly init?: RequestInit;
      readonly header?: string;
    }
  /** A JSON request to the deployment's own API; its value is what is answered. */
  | { readonly api: string; readonly body: object; readonly as?: As }
  | { readonly setEnv: string; readonly value: string | null }
  | { readonly waitMs: number };

export type Expected =
  | { readonly accepts: true }
  | { readonly value: unknown }
  | {
      /** Part of Convex's message, or a pattern for it. */
      readonly rejects: string | RegExp;
      /** For pushes and requests: Convex's code. "Bundle" when the official bundler is the one that refuses. */
      readonly code?: string;
      /** `ConvexError.data`. */
      readonly data?: unknown;
    };

export interface Row {
  /** "area/what" */
  readonly id: string;
  /** The rule in one sentence. */
  readonly rule: string;
  /** A page of docs.convex.dev, a file of get-convex/convex-backend, or one of an official npm package. */
  readonly citation: string;
  /** The app, without package.json and _generated. */
  readonly files: Files;
  readonly options?: BackendOptions;
  /** After the deployment, which has to succeed when there are steps. All but the last have to succeed. */
  readonly steps?: readonly Step[];
  /** Of the last step, or of the deployment when there is none. */
  readonly expected: Expected;
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code: string | null; readonly data?: unknown };

const IMPORTS = `import { query, mutation, action, internalQuery, internalMutation, internalAction, httpAction } from "GENERATED/server";
import { api, internal, components } from "GENERATED/api";
import { cronJobs, httpRouter, paginationOptsValidator, makeFunctionReference } from "convex/server";
import { v, ConvexError } from "convex/values";
`;

/** `convex/<name>.ts` with the usual imports before `body`. */
export function moduleFile(name: string, body: string): Files {
  const generated = `${"../".repeat(name.split("/").length - 1) || "./"}_generated`;
  return { [`convex/${name}.ts`]: IMPORTS.replaceAll("GENERATED", generated) + body };
}

/** `convex/schema.ts` with the tables of `body`. */
export function schemaFile(body: string, options = "{}"): Files {
  return {
    "convex/schema.ts": `import { defineSchema, defineTable } from "convex/server";\nimport { v } from "convex/values";\nexport default defineSchema({ ${body} }, ${options});`,
  };
}

/** Whether a row is one of those that Convex accepts. */
export function isAccept(row: Row): boolean {
  return !("rejects" in row.expected);
}

/** Runs one row; throws an `AssertionError` when the backend answers differently. */
export async function runRow(t: TestContext, row: Row): Promise<void> {
  const backend = await startBackend(row.options ?? {});
  try {
    const steps: Step[] = [{ deploy: row.files }, ...(row.steps ?? [])];
    const last = steps.pop() as Step;
    const results: unknown[] = [];
    for (const step of steps) {
      const outcome = await run(t, backend, step, results.slice(1));
      assert.ok(
        outcome.ok,
        `a step before the last failed: ${inspect(step, { breakLength: Infinity }).slice(0, 200)}: ${outcome.ok ? "" : outcome.message}`,
      );
      results.push(outcome.value);
    }
    await checkLast(t, backend, row, last, results.slice(1));
  } finally {
    await backend.close();
  }
}

const PATIENCE_MS = 5000;

async function checkLast(t: TestContext, backend: Backend, row: Row, step: Step, results: Results): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const outcome = await run(t, backend, step, results);
    try {
      return compare(row, outcome);
    } catch (error) {
      const again = "call" in step && step.eventually === true && Date.now() < deadline;
      if (!again) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function compare({ rule, expected }: Row, outcome: Outcome): void {
  if ("rejects" in expected) {
    assert.ok(!outcome.ok, `${rule}\naccepted instead, with ${inspect(outcome).slice(0, 300)}`);
    const { rejects } = expected;
    const matches = typeof rejects === "string" ? outcome.message.includes(rejects) : rejects.test(outcome.message);
    assert.ok(matches, `${rule}\nexpected: ${String(rejects)}\nanswered: ${outcome.message}`);
    if (expected.code !== undefined) assert.equal(outcome.code, expected.code, outcome.message);
    if (expected.data !== undefined) assert.deepEqual(outcome.data, expected.data);
    return;
  }
  assert.ok(outcome.ok, `${rule}\nrefused instead: ${outcome.ok ? "" : outcome.message}`);
  if ("value" in expected) assert.deepEqual(outcome.value, expected.value, rule);
}

async function run(t: TestContext, backend: Backend, step: Step, results: Results): Promise<Outcome> {
  if ("deploy" in step) return await pushFiles(t, backend, step.deploy);
  if ("call" in step) return await callFunction(backend, step, results);
  if ("request" in step) {
    const target = typeof step.request === "string" ? step.request : step.request(results);
    return await siteRequest(backend, target, step);
  }
  if ("api" in step) {
    const { status, body } = await post(`${backend.url}${step.api}`, step.body, authorization(step.as ?? "client"));
    return status === 200 ? { ok: true, value: body } : refused(body);
  }
  if ("setEnv" in step) backend.app.setEnvironmentVariables(new Map([[step.setEnv, step.value]]));
  else await new Promise((resolve) => setTimeout(resolve, step.waitMs));
  return { ok: true, value: null };
}

const bundled = new Map<string, Promise<PushRequest>>();

async function bundle(t: TestContext, files: Files): Promise<PushRequest> {
  const key = JSON.stringify(files);
  let request = bundled.get(key);
  if (!request) bundled.set(key, (request = buildPushRequest(makeProject(t, files))));
  return await request;
}

async function pushFiles(t: TestContext, backend: Backend, files: Files): Promise<Outcome> {
  let request: PushRequest;
  try {
    request = await bundle(t, files);
  } catch (error) {
    return { ok: false, message: (error as Error).message, code: "Bundle" };
  }
  const step = async (name: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> =>
    await post(`${backend.url}/api/deploy2/${name}`, { ...body, adminKey: ADMIN_KEY });
  const started = await step("start_push", request);
  if (started.status !== 200) return refused(started.body);
  const waited = await step("wait_for_schema", {
    schemaChange: started.body["schemaChange"],
    timeoutMs: 1000,
    dryRun: false,
  });
  if (waited.status !== 200) return refused(waited.body);
  if (waited.body["type"] !== "complete") {
    return { ok: false, message: String(waited.body["error"]), code: String(waited.body["type"]) };
  }
  const finished = await step("finish_push", { startPush: started.body, dryRun: false });
  return finished.status === 200 ? { ok: true, value: null } : refused(finished.body);
}

function refused(body: Record<string, unknown>): Outcome {
  return { ok: false, message: String(body["message"]), code: String(body["code"]) };
}

async function callFunction(
  backend: Backend,
  step: Extract<Step, { call: string }>,
  results: Results,
): Promise<Outcome> {
  const args = typeof step.args === "function" ? step.args(results) : (step.args ?? {});
  const body = { path: step.path, args: [convexToJson(args as Value)], format: "convex_encoded_json" };
  const { body: answer } = await post(`${backend.url}/api/${step.call}`, body, authorization(step.as ?? "client"));
  if (answer["status"] === "success") return { ok: true, value: jsonToConvex(answer["value"] as JSONValue) };
  if (answer["status"] !== "error") return refused(answer);
  const data = answer["errorData"] === undefined ? {} : { data: jsonToConvex(answer["errorData"] as JSONValue) };
  return { ok: false, message: String(answer["errorMessage"]), code: null, ...data };
}

function authorization(as: As): Record<string, string> {
  if (as === "client") return {};
  if (as === "admin") return { authorization: `Convex ${ADMIN_KEY}` };
  if ("token" in as) return { authorization: `Bearer ${as.token}` };
  return { authorization: `Convex ${ADMIN_KEY}:${Buffer.from(JSON.stringify(as.identity)).toString("base64")}` };
}

async function siteRequest(
  backend: Backend,
  target: string,
  { init, header }: Extract<Step, { request: unknown }>,
): Promise<Outcome> {
  const response = await fetch(new URL(target, backend.siteUrl), init ?? {});
  const { status } = response;
  const body = (await response.text()).replace(/\[Request ID: [0-9a-f]{16}\]/, "[Request ID: ...]");
  return {
    ok: true,
    value: header === undefined ? { status, body } : { status, body, header: response.headers.get(header) },
  };
}
