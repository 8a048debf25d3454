/**
 * Deploys each published component to a backend of its own and calls a function through it.
 *
 *     main.ts                 prints the packages that are needed, as dependencies of a package.json
 *     main.ts NODE_MODULES    prints one line of JSON for each component: what came of it
 */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { buildPushRequest } from "../../../push/request.ts";
import { startBackend, type Backend } from "../../server.ts";
import { ADMIN_KEY, CONVEX_VERSION } from "../../versions.ts";
import { COMPONENTS, type PublishedComponent } from "./table.ts";

/** What came of one component; `problem` is null where it deployed and answered. */
interface Tried {
  readonly package: string;
  readonly version: string;
  readonly problem: string | null;
}

const PATIENCE_MS = 10_000;
const IMPORTS = `import { query, mutation, action, internalQuery, internalMutation, internalAction } from "./_generated/server";
import { api, internal, components } from "./_generated/api";
import { v } from "convex/values";
`;

function dependencies(): Record<string, string> {
  const found: Record<string, string> = { convex: CONVEX_VERSION };
  for (const { name, version, peers } of COMPONENTS) Object.assign(found, peers, { [`@convex-dev/${name}`]: version });
  return found;
}

function writeProject(folder: string, packages: string, { name, app, files }: PublishedComponent): void {
  const all = {
    "package.json": JSON.stringify({ name: "app", dependencies: dependencies() }),
    "convex/convex.config.ts": `import { defineApp } from "convex/server";
import component from "@convex-dev/${name}/convex.config.js";
const app = defineApp();
app.use(component);
export default app;`,
    "convex/m.ts": IMPORTS + app,
    ...files,
  };
  mkdirSync(path.join(folder, "convex"));
  symlinkSync(packages, path.join(folder, "node_modules"));
  for (const [file, text] of Object.entries(all)) writeFileSync(path.join(folder, file), text);
}

async function post(backend: Backend, step: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${backend.url}/api/deploy2/${step}`, {
    method: "POST",
    body: JSON.stringify({ ...body, adminKey: ADMIN_KEY, dryRun: false }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (response.status !== 200) throw new Error(String(answer["message"]));
  return answer;
}

async function deploy(backend: Backend, folder: string): Promise<void> {
  const startPush = await post(backend, "start_push", await buildPushRequest(folder));
  const { schemaChange } = startPush;
  await post(backend, "wait_for_schema", { schemaChange, timeoutMs: 1000 });
  await post(backend, "finish_push", { startPush });
}

async function call(client: ConvexHttpClient, [kind, name]: PublishedComponent["calls"][number]): Promise<unknown> {
  const reference = `m:${name}`;
  if (kind === "query") return await client.query(makeFunctionReference<"query">(reference));
  if (kind === "mutation") return await client.mutation(makeFunctionReference<"mutation">(reference));
  return await client.action(makeFunctionReference<"action">(reference));
}

async function useIt(backend: Backend, { calls, value }: PublishedComponent): Promise<void> {
  const client = new ConvexHttpClient(backend.url, { logger: false });
  for (const each of calls.slice(0, -1)) await call(client, each);
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const got = await call(client, calls.at(-1)!);
    if (isDeepStrictEqual(got, value)) return;
    if (Date.now() > deadline) throw new Error(`answered ${JSON.stringify(got)} instead of ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function tried(component: PublishedComponent, packages: string): Promise<Tried> {
  const { name, version, env } = component;
  const folder = mkdtempSync(path.join(tmpdir(), "component-"));
  const backend = await startBackend(env ? { env } : {});
  let problem: string | null = null;
  try {
    writeProject(folder, packages, component);
    await deploy(backend, folder);
    await useIt(backend, component);
  } catch (error) {
    problem = (error as Error).message;
  }
  await backend.close();
  rmSync(folder, { recursive: true });
  return { package: `@convex-dev/${name}`, version, problem };
}

const [packages] = process.argv.slice(2);
if (packages === undefined) console.log(JSON.stringify(dependencies()));
else for (const component of COMPONENTS) console.log(JSON.stringify(await tried(component, packages)));
process.exit(0);
