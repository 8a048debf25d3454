/** Entry module of the engine's context: convex-test made into a `Runtime`. */

import { convexToJson, jsonToConvex, type Value } from "convex/values";
import { convexTest, internals, type ConvexTest } from "embedded:convex-test";
import type {
  ComponentSetup,
  DocumentWrite,
  FailedHttpAction,
  FunctionCall,
  FunctionResult,
  HttpActionRequest,
  Invoker,
  JsonValue,
  Runtime,
  ScheduledJob,
  SchemaJson,
  UserIdentity,
} from "../runtime_types.ts";
import { host } from "embedded:host";
import { adopted } from "./adopt.ts";
import { changeDocuments } from "./documents.ts";
import { errorText, failedHttpAction, failedResult } from "./error_text.ts";
import { runningJob } from "./scheduling.ts";
import { moduleLoaders } from "./remote.ts";

export { errorText };

/** Builds the runtime of one deployment. */
export function createRuntime(components: ComponentSetup[], invoker: Invoker): Runtime {
  const root = components.find((component) => component.path === "");
  const test = convexTest({
    schema: schemaObject(root?.schema ?? null),
    modules: moduleLoaders(root ?? { path: "", schema: null, functions: {}, hasRouter: false }, invoker),
    transactionLimits: true,
  });
  for (const component of components) {
    if (component.path !== "") {
      test.registerComponent(component.path, schemaObject(component.schema) ?? null, moduleLoaders(component, invoker));
    }
  }
  return {
    call: async (callJson) => JSON.stringify(await settled(() => call(test, JSON.parse(callJson) as FunctionCall))),
    fetch: async (request, identityJson) =>
      await fetchFrom(test, request, identityJson === null ? null : (JSON.parse(identityJson) as UserIdentity)),
    runJob: async (jobJson) => await runJob(test, JSON.parse(jobJson) as ScheduledJob),
    changeDocuments: async (componentPath, given) => {
      const request = adopted(given as unknown as JsonValue) as unknown as DocumentWrite;
      return JSON.stringify(
        await settled(() => test.runInComponent(componentPath, (ctx) => changeDocuments(ctx.db, request))),
      );
    },
    storeFile: async (componentPath, blob) =>
      await test.runInComponent(componentPath, async (ctx) => await ctx.storage.store(blob)),
    checkDocuments: (componentPath, schemaJson) => firstMismatch(componentPath, JSON.parse(schemaJson) as SchemaJson),
  };
}

// The identity of the caller stays in the app.
async function fetchFrom(
  test: ConvexTest,
  { pathAndQuery, init, componentPath, route }: HttpActionRequest,
  identity: UserIdentity | null,
): Promise<Response | FailedHttpAction> {
  const context = { componentPath, udfPath: "http", udfType: "http", depth: 0, paginatedQueries: 0 };
  try {
    if (componentPath === "") return await asCaller(test, identity).fetch(pathAndQuery, init, route);
    return await internals.executionContextStorage.run(context, () => test.fetch(pathAndQuery, init, route));
  } catch (error) {
    return failedHttpAction(error);
  }
}

async function call(test: ConvexTest, request: FunctionCall): Promise<unknown> {
  const args = jsonToConvex(request.args);
  const path = { componentPath: request.componentPath, udfPath: request.udfPath };
  const caller = asCaller(test, request.identity);
  switch (request.type) {
    case "query":
      return await caller.queryFromPath(path, args);
    case "mutation":
      return await caller.mutationFromPath(path, args);
    case "action":
      return await caller.actionFromPath(path, args);
    default:
      throw request.type satisfies never;
  }
}

function asCaller(test: ConvexTest, identity: UserIdentity | null): ConvexTest {
  return identity === null ? test : test.withIdentity(identity);
}

async function settled(run: () => Promise<unknown>): Promise<FunctionResult> {
  try {
    return { ok: true, value: convexToJson(((await run()) ?? null) as Value) };
  } catch (error) {
    return failedResult(error);
  }
}

async function runJob(test: ConvexTest, job: ScheduledJob): Promise<void> {
  const { components } = test.convexGlobal as { components: Record<string, { db: unknown } | undefined> };
  const db = components[job.componentPath]?.db;
  if (!db) return;
  const { jobId, componentPath, functionPath } = job;
  const run = (): Promise<unknown> =>
    internals.runScheduledFunction({
      db,
      jobId,
      componentPath,
      functionPath,
      args: jsonToConvex(job.args),
      name: functionPath.udfPath,
    });
  await internals.convexGlobalStorage.run(test.convexGlobal, () => runningJob(db, jobId, run));
}

/** The first committed document that `schema` refuses, in Convex's words, or null. */
function firstMismatch(componentPath: string, schema: SchemaJson): string | null {
  if (!schema.schemaValidation) return null;
  const data = host.committedData(componentPath);
  for (const table of schema.tables) {
    for (const id of data.idsOf(table.tableName)) {
      const { _id, _creationTime, ...fields } = data.get(id) as Record<string, unknown>;
      try {
        internals.validateValidator(table.documentType, fields);
      } catch (error) {
        return `Document with ID "${String(_id)}" in table "${table.tableName}" does not match the schema: ${(error as Error).message}`;
      }
    }
  }
  return null;
}

// convex-test takes the schema object of the app; it gets the validated JSON
// instead, so that what runs is what the rules have seen.
function schemaObject(schema: SchemaJson | null): unknown {
  if (schema === null) return undefined;
  const tables = Object.fromEntries(schema.tables.map((table) => [table.tableName, { export: () => table }]));
  return { schemaValidation: schema.schemaValidation, tables };
}
