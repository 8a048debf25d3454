/** Loads our runtime modules, convex-test and the convex library into a context. */

import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import type vm from "node:vm";
import { cachedScript, readScript } from "../../code_cache.ts";
import { BUNDLED_RUNTIME } from "./bundled_runtime.ts";
import { CONVEX_TEST_FILE, patchedConvexTest } from "./convex_test.ts";
import { ModuleGraph, ModuleResolutionError } from "./modules.ts";
import type { RuntimeEntry, RuntimeHost } from "../runtime_types.ts";

const RUNTIME_FOLDER = fileURLToPath(new URL("../runtime/", import.meta.url));
const ENTRY = `${RUNTIME_FOLDER}entry.ts`;
const SEAMS = `${RUNTIME_FOLDER}seams.ts`;

// The same for every context of the process.
const texts = new Map<string, string>();
const compiled = new Map<string, Buffer>();

function textOf(file: string): string {
  let text = texts.get(file);
  if (text === undefined) texts.set(file, (text = read(file)));
  return text;
}

function read(file: string): string {
  if (file === CONVEX_TEST_FILE) return patchedConvexTest();
  const text = readFileSync(file, "utf8");
  return file.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
}

/** Evaluates `runtime/entry.ts` inside `context`, with `host` behind "embedded:host". */
export async function loadRuntime(context: vm.Context, host: RuntimeHost): Promise<RuntimeEntry> {
  return BUNDLED_RUNTIME === null ? await fromModules(context, host) : fromScript(BUNDLED_RUNTIME, context, host);
}

let script: vm.Script | undefined;

function fromScript(file: string, context: vm.Context, host: RuntimeHost): RuntimeEntry {
  script ??= cachedScript(readScript(file), file, ENTRY);
  const given: Readonly<Record<string, object>> = {
    "embedded:host": { host },
    "node:async_hooks": { AsyncLocalStorage },
  };
  const module = { exports: {} };
  const run = script.runInContext(context) as (
    require: (name: string) => object | undefined,
    ...parts: object[]
  ) => void;
  run((name) => given[name], module, module.exports);
  return module.exports as RuntimeEntry;
}

async function fromModules(context: vm.Context, host: RuntimeHost): Promise<RuntimeEntry> {
  const graph: ModuleGraph = new ModuleGraph(context, (specifier, importer) => {
    switch (specifier) {
      case "embedded:host":
        return graph.synthetic(specifier, { host });
      case "node:async_hooks":
        return graph.synthetic(specifier, { AsyncLocalStorage });
      case "embedded:seams":
        return fileModule(SEAMS);
      case "embedded:convex-test":
        return fileModule(CONVEX_TEST_FILE);
      default:
        return fileModule(resolveFile(specifier, importer));
    }
  });
  const fileModule = (file: string): vm.Module => graph.module(file, () => textOf(file), compiled);
  return (await graph.evaluate(fileModule(ENTRY))) as unknown as RuntimeEntry;
}

function resolveFile(specifier: string, importer: string): string {
  if (specifier.startsWith(".")) return fileURLToPath(new URL(specifier, `file://${importer}`));
  if (specifier === "convex/server" || specifier === "convex/values") {
    return fileURLToPath(import.meta.resolve(specifier));
  }
  throw new ModuleResolutionError(`the runtime has no module ${specifier} (imported by ${importer})`);
}
