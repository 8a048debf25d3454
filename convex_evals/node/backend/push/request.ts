/** The body of `start_push`, as the official CLI sends it. */

import type { IsolateScript } from "../../isolate_script.ts";
import { DeployError, HttpError } from "../errors.ts";
import type { ExternalPackages } from "./external_packages.ts";

export interface ModuleConfig {
  readonly path: string;
  readonly source: string;
  readonly sourceMap?: string;
  readonly environment: "isolate" | "node";
  /** Comes with pushes of our own; other modules are converted here. */
  readonly script?: IsolateScript;
}

export interface ModuleHash {
  readonly path: string;
  readonly environment: "isolate" | "node";
  readonly sha256: string;
}

export interface DefinitionConfig {
  /** "" for the app. */
  readonly definitionPath: string;
  readonly definition: ModuleConfig | null;
  readonly dependencies: readonly string[];
  readonly schema: ModuleConfig | null;
  readonly functions: readonly ModuleConfig[];
  readonly udfServerVersion: string;
}

export interface StartPushRequest {
  readonly adminKey: string;
  readonly dryRun: boolean;
  readonly app: DefinitionConfig;
  readonly unchangedModules: readonly ModuleHash[];
  readonly components: readonly DefinitionConfig[];
  /** What modules for Node.js import and do not contain. */
  readonly externalPackages: ExternalPackages | null;
}

type Json = Record<string, unknown>;

/** Checks the shape of a request; throws `HttpError` 400 naming the field. */
export function parseStartPush(body: unknown): StartPushRequest {
  const request = object(body, "request");
  const app = object(request["appDefinition"], "appDefinition");
  const externalPackages = packages(request["externalPackages"]);
  const wanted = list(request["nodeDependencies"] ?? [], "nodeDependencies");
  if (wanted.length > 0 && !externalPackages) throw notSent(wanted);
  return {
    adminKey: text(request["adminKey"], "adminKey"),
    dryRun: request["dryRun"] === true,
    app: definition({ ...app, definitionPath: "", functions: app["changedModules"] }, "appDefinition"),
    unchangedModules: list(app["unchangedModuleHashes"] ?? [], "unchangedModuleHashes") as ModuleHash[],
    externalPackages,
    components: list(request["componentDefinitions"], "componentDefinitions").map((item, index) =>
      definition(object(item, `componentDefinitions[${index}]`), `componentDefinitions[${index}]`),
    ),
  };
}

function packages(value: unknown): ExternalPackages | null {
  if (value === undefined) return null;
  const { files, contents } = object(value, "externalPackages");
  return {
    files: list(files, "externalPackages.files").map((item) => {
      const { path, size, executable } = object(item, "externalPackages.files");
      return { path: text(path, "externalPackages.files"), size: Number(size), executable: executable === true };
    }),
    contents: text(contents, "externalPackages.contents"),
  };
}

function notSent(wanted: readonly unknown[]): DeployError {
  const names = wanted.map((item) => text(object(item, "nodeDependencies")["name"], "nodeDependencies.name"));
  return new DeployError(
    "InvalidExternalModules",
    `${names.join(", ")}: this backend installs no packages, and the push brought none. ` +
      "Remove `node.externalPackages` from convex.json to bundle them.",
  );
}

function definition(config: Json, where: string): DefinitionConfig {
  return {
    definitionPath: text(config["definitionPath"], `${where}.definitionPath`),
    definition: optionalModule(config["definition"], `${where}.definition`),
    dependencies: list(config["dependencies"], `${where}.dependencies`).map((item) =>
      text(item, `${where}.dependencies`),
    ),
    schema: optionalModule(config["schema"], `${where}.schema`),
    functions: list(config["functions"], `${where}.functions`).map((item, index) =>
      moduleConfig(item, `${where}.functions[${index}]`),
    ),
    udfServerVersion: text(config["udfServerVersion"], `${where}.udfServerVersion`),
  };
}

function optionalModule(value: unknown, where: string): ModuleConfig | null {
  return value === null || value === undefined ? null : moduleConfig(value, where);
}

function moduleConfig(value: unknown, where: string): ModuleConfig {
  const config = object(value, where);
  const environment = config["environment"];
  if (environment !== "isolate" && environment !== "node") throw invalid(`${where}.environment`, '"isolate" or "node"');
  return {
    path: text(config["path"], `${where}.path`),
    source: text(config["source"], `${where}.source`),
    ...(typeof config["sourceMap"] === "string" ? { sourceMap: config["sourceMap"] } : {}),
    environment,
    ...(config["script"] === undefined ? {} : { script: isolateScript(config["script"], `${where}.script`) }),
  };
}

function isolateScript(value: unknown, where: string): IsolateScript {
  const script = object(value, where);
  return { code: text(script["code"], `${where}.code`), map: text(script["map"], `${where}.map`) };
}

function object(value: unknown, where: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(where, "an object");
  return value as Json;
}

function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) throw invalid(where, "an array");
  return value;
}

function text(value: unknown, where: string): string {
  if (typeof value !== "string") throw invalid(where, "a string");
  return value;
}

function invalid(where: string, expected: string): HttpError {
  return new HttpError(400, "BadJsonBody", `Failed to deserialize the JSON body: ${where} must be ${expected}`);
}
