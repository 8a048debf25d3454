/** Entry module of the app's context: convex-test made into a `Runtime`. */

import { convexToJson, jsonToConvex, type Value } from "convex/values";
import { convexTest, internals, type ConvexTest } from "embedded:convex-test";
import type {
  AnalyzedFunction,
  ComponentSetup,
  DocumentWrite,
  FunctionCall,
  FunctionResult,
  HttpActionRequest,
  JsonValue,
  Runtime,
  ScheduledJob,
  SchemaJson,
  UserIdentity,
} from "../runtime_types.ts";
import { host } from "embedded:host";
import { adopted } from "./adopt.ts";
import { appConsole } from "./console.ts";
import { changeDocuments } from "./documents.ts";
import { errorText, failedResult } from "./error_text.ts";
import { adoptHostErrors } from "./host_errors.ts";
import { intrinsics, lock } from "./lock_intrinsics.ts";
import { analyzed, isRegistered } from "./remote.ts";
import { sharedObjects } from "./shared_objects.ts";

export { errorText };
export { remoteModule } from "./remote.ts";
export { inspectAuthConfig, inspectDefinition, inspectModule, inspectSchema } from "./inspection.ts";

(globalThis as { console: unknown }).console = appConsole();
adoptHostErrors();
lockRuntime();

// What follows runs beside the app's code. Regular expressions stay open: they are many times slower otherwise.
function lockRuntime(): void {
  const iterator = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;
  const closed = new Set<object>([
    Array,
    Array.prototype,
    Function.prototype,
    JSON,
    Map,
    Map.prototype,
    Object,
    Object.prototype,
    Promise,
    Promise.prototype,
    Reflect,
    Set,
    Set.prototype,
    iterator,
  ]);
  const locked = lock(intrinsics(), {
    spared: [globalThis, RegExp, RegExp.prototype],
    mayGrow: (object) => !closed.has(object),
  });
  lock(sharedObjects(), { spared: locked, mayGrow: () => false });
}

/** Builds the runtime of one deployment. */
export function createRuntime(components: ComponentSetup[]): Runtime {
  const root = components.find((component) => component.path === "");
  const test = convexTest({
    schema: root ? schemaObject(root.schema) : undefined,
    modules: root ? moduleLoaders(root) : moduleLoaders({ path: "", schema: null, modules: {}, functions: {} }),
    transactionLimits: true,
  });
  for (const component of components) {
    if (component.path !== "") {
      test.registerComponent(component.path, schemaObject(component.schema) ?? null, moduleLoaders(component));
    }
  }
  return {
    call: async (callJson) => JSON.stringify(await settled(() => call(test, JSON.parse(callJson) as FunctionCall))),
    fetch: async (request, identityJson) =>
      await fetchFrom(test, request, identityJson === null ? null : (JSON.parse(identityJson) as UserIdentity)),
    currentComponent: () => internals.executionContextStorage.getStore()?.componentPath ?? "",
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
): Promise<Response> {
  if (componentPath === "") return await asCaller(test, identity).fetch(pathAndQuery, init, route);
  const context = { componentPath, udfPath: "http", udfType: "http", depth: 0, paginatedQueries: 0 };
  return await internals.executionContextStorage.run(context, () => test.fetch(pathAndQuery, init, route));
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
  await internals.convexGlobalStorage.run(test.convexGlobal, () =>
    internals.runScheduledFunction({
      db,
      jobId: job.jobId,
      componentPath: job.componentPath,
      functionPath: job.functionPath,
      args: jsonToConvex(job.args),
      name: job.functionPath.udfPath,
    }),
  );
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

// convex-test looks for `_generated` to find the root of the modules.
function moduleLoaders(component: ComponentSetup): Record<string, () => Promise<unknown>> {
  const loaders: Record<string, () => Promise<unknown>> = { "./_generated/api.js": async () => ({}) };
  for (const [path, namespace] of Object.entries(component.modules)) {
    const module = asAnalyzed(namespace, component.functions[path] ?? []);
    loaders[`./${path}.js`] = async () => module;
  }
  return loaders;
}

/** The module with the functions that the analysis has seen: what they are and take is not asked again, as it might change. */
function asAnalyzed(namespace: object, functions: readonly AnalyzedFunction[]): object {
  const module: Record<string, unknown> = Object.assign(Object.create(null) as Record<string, unknown>, namespace);
  for (const fn of functions) {
    const value = module[fn.name] as Record<string, unknown>;
    // Functions for Node.js are what the analysis says already.
    if ("_handler" in value && isRegistered(value["_handler"])) continue;
    const invoke = value[`invoke${fn.udfType}`];
    module[fn.name] = analyzed(fn, (args, requestId): unknown => {
      if (typeof invoke !== "function") throw new Error(`${fn.name} has no invoke${fn.udfType}`);
      return Reflect.apply(invoke, value, fn.udfType === "Action" ? [requestId, args] : [args]);
    });
  }
  return module;
}
