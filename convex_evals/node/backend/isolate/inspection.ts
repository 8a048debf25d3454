/**
 * What a push wants to know of the app's modules, read off their exports: once, as data, by nothing that the app's code may have
 * changed. It has run by then, in the same context, and only its own functions and getters are called.
 * get-convex/convex-backend crates/isolate/src/environment/analyze.rs
 */

import type { ModuleInspection } from "../runtime_types.ts";
import type { ModuleExports } from "./module_helpers.ts";
import { pairsOf } from "./outcome_text.ts";

type Properties = Readonly<Record<PropertyKey, unknown>>;

const { stringify } = JSON;
const { apply, ownKeys } = Reflect;

/**
 * Functions, routes and crons of one module: the JSON text of a `ModuleInspection`, whose crons are a text of their own.
 * Throws what the app's code throws, and what is wrong with its functions.
 */
export function inspectModule(exports: ModuleExports): string {
  const router = exports["default"];
  const kind = kindOfDefault(router);
  const routes = kind === "router" ? routesOf(router as Properties) : "";
  const crons = kind === "crons" ? call(router as Properties, "export") : "{}";
  if (typeof crons !== "string") throw new Error("The `export()` method of Crons did not return a string.");
  return `{"functions":[${functionsOf(exports)}],"defaultExport":"${kind}","httpRoutes":[${routes}],"crons":${stringify(crons)}}`;
}

/** `defineApp()` / `defineComponent()` as JSON text. */
export function inspectDefinition(exports: ModuleExports): string {
  const definition = exports["default"];
  if (!isObject(definition) || typeof definition["export"] !== "function") {
    throw new Error("must default export the result of `defineApp()` or `defineComponent()`");
  }
  return stringify(call(definition, "export"));
}

/** `defineSchema()` as JSON text; empty without a default export. */
export function inspectSchema(exports: ModuleExports): string {
  const schema = exports["default"];
  if (schema === undefined || schema === null) return "";
  // Text that is no JSON where it is no schema.
  const text = isObject(schema) && typeof schema["export"] === "function" ? call(schema, "export") : undefined;
  return typeof text === "string" ? text : "not a schema";
}

/** The default export of auth.config as JSON text; empty without one. */
export function inspectAuthConfig(exports: ModuleExports): string {
  return stringify(exports["default"] ?? undefined) ?? "";
}

function functionsOf(exports: ModuleExports): string {
  let text = "";
  const names = ownKeys(exports);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    const found = typeof name === "string" ? functionOf(name, exports[name]) : "";
    if (found !== "") text += text === "" ? found : `,${found}`;
  }
  return text;
}

/** One registered function as JSON text; empty for what is none. Which properties there are decides, not what they hold. */
function functionOf(name: string, value: unknown): string {
  if (!isObject(value)) return "";
  const udfType = only(value, "isQuery", "isMutation", "isAction");
  const visibility = only(value, "isPublic", "isInternal");
  if (udfType === "" || visibility === "") return "";
  const args = exported(name, value, "exportArgs");
  const returns = exported(name, value, "exportReturns");
  const handler = value["_handler"];
  if (handler === undefined ? typeof value !== "function" : typeof handler !== "function") {
    throw new Error(`${name}${handler === undefined ? "" : ".handler"} is not a function.`);
  }
  const kind = visibility === "isPublic" ? "public" : "internal";
  const type = udfType === "isQuery" ? "Query" : udfType === "isMutation" ? "Mutation" : "Action";
  return `{${pairsOf({ name, udfType: type, args, returns })},"visibility":{"kind":"${kind}"},"pos":null}`;
}

/** The one of these that the object has; empty where it has none or several. */
function only(value: Properties, first: string, second: string, third?: string): string {
  let found = first in value ? first : "";
  if (second in value) {
    if (found !== "") return "";
    found = second;
  }
  if (third !== undefined && third in value) {
    if (found !== "") return "";
    found = third;
  }
  return found;
}

const ANY = '{"type":"any"}';

/** The text of a validator; what takes anything exports none. */
function exported(name: string, value: Properties, method: "exportArgs" | "exportReturns"): string {
  const fn = value[method];
  if (fn === undefined) return ANY;
  if (typeof fn !== "function") throw new Error(`${name}.${method} is not a function or \`undefined\`.`);
  const text = apply(fn, value, []) as unknown;
  if (typeof text !== "string") {
    throw new Error(`Invalid ${method} return value: ${name}.${method}() didn't return a string.`);
  }
  return text;
}

function kindOfDefault(value: unknown): ModuleInspection["defaultExport"] {
  if (value === undefined) return "missing";
  if (isMarked(value, "isRouter")) return "router";
  return isMarked(value, "isCrons") ? "crons" : "other";
}

function routesOf(router: Properties): string {
  const routes = call(router, "getRoutes");
  if (!isObject(routes)) throw routesError("return value is not an array");
  let text = "";
  const length = routes["length"];
  if (typeof length !== "number") throw routesError("return value is not an array");
  for (let at = 0; at < length; at += 1) {
    const route = routes[at];
    if (!isObject(route)) throw routesError(`arr[${at}] is not an object`);
    const path = route[0];
    const method = route[1];
    if (typeof path !== "string") throw routesError(`arr[${at}][0] is not a string`);
    if (typeof method !== "string") throw routesError(`arr[${at}][1] is not a string`);
    text += `${at === 0 ? "" : ","}{${pairsOf({ path, method })}}`;
  }
  return text;
}

function routesError(what: string): Error {
  return new Error(
    `The \`getRoutes()\` method of Router did not return the expected type. \`getRoutes()\` should be a function returning an array of entries of the form [path: string, method: string, handler: HttpAction] (${what})`,
  );
}

function call(value: Properties, name: string): unknown {
  return apply(value[name] as () => unknown, value, []);
}

function isMarked(value: unknown, mark: string): value is Properties {
  return isObject(value) && mark in value && value[mark] === true;
}

function isObject(value: unknown): value is Properties {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
