/** What a push wants to know of the app's modules, read off their exports. */

import type { AnalyzedFunction, CronSpec, HttpRouteSpec, ModuleInspection } from "../runtime_types.ts";

type Exports = Readonly<Record<string, unknown>>;
type Callable = () => unknown;

/** Functions, routes and crons of one module, as JSON text of a `ModuleInspection`. */
export function inspectModule(namespace: Exports): string {
  const router = namespace["default"];
  const inspection: ModuleInspection = {
    functions: Object.entries(namespace).flatMap(([name, value]) => analyzedFunction(name, value)),
    defaultExport: kindOfDefault(router),
    httpRoutes: isMarked(router, "isRouter") ? routesOf(router) : [],
    crons: isMarked(router, "isCrons") ? cronsOf(router) : {},
  };
  return JSON.stringify(inspection);
}

/** `defineApp()` / `defineComponent()` as JSON text. */
export function inspectDefinition(namespace: Exports): string {
  const definition = namespace["default"];
  const fn = isObject(definition) ? definition["export"] : undefined;
  if (typeof fn !== "function") {
    throw new Error("must default export the result of `defineApp()` or `defineComponent()`");
  }
  return JSON.stringify((fn as Callable).call(definition));
}

/** `defineSchema()` as JSON text; empty without a default export. */
export function inspectSchema(namespace: Exports): string {
  const schema = namespace["default"];
  if (schema === undefined || schema === null) return "";
  // Text that is no JSON where it is no schema.
  return isObject(schema) && typeof schema["export"] === "function"
    ? String((schema["export"] as Callable).call(schema))
    : "not a schema";
}

/** The default export of auth.config as JSON text; empty without one. */
export function inspectAuthConfig(namespace: Exports): string {
  return JSON.stringify(namespace["default"] ?? undefined) ?? "";
}

function analyzedFunction(name: string, value: unknown): AnalyzedFunction[] {
  if (!isObject(value)) return [];
  const udfType = value["isQuery"] ? "Query" : value["isMutation"] ? "Mutation" : value["isAction"] ? "Action" : null;
  const kind = value["isPublic"] ? "public" : value["isInternal"] ? "internal" : null;
  if (udfType === null || kind === null) return [];
  const args = (value["exportArgs"] as Callable)();
  const returns = (value["exportReturns"] as Callable)();
  return [{ name, udfType, visibility: { kind }, args: String(args), returns: String(returns), pos: null }];
}

function kindOfDefault(value: unknown): ModuleInspection["defaultExport"] {
  if (value === undefined) return "missing";
  if (isMarked(value, "isRouter")) return "router";
  return isMarked(value, "isCrons") ? "crons" : "other";
}

function routesOf(router: Exports): HttpRouteSpec[] {
  const routes = (router["getRoutes"] as Callable).call(router) as [string, string, unknown][];
  return routes.map(([path, method]) => ({ path, method }));
}

function cronsOf(crons: Exports): Record<string, CronSpec> {
  return JSON.parse(String((crons["export"] as Callable).call(crons))) as Record<string, CronSpec>;
}

function isMarked(value: unknown, mark: string): value is Exports {
  return isObject(value) && value[mark] === true;
}

function isObject(value: unknown): value is Exports {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
