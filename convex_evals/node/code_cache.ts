/**
 * Large texts as scripts whose compiled code is kept in a file beside them, that of functions which a first run called
 * (record.ts) included: compiling was a quarter of what a graded project's processes did.
 *
 * Node's own compile cache (`node:module`) is a folder of one user, and each sandbox has a user of its own.
 */
import { isAscii } from "node:buffer";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

/** Of our own files: bundles, which build.ts makes, use bundles. */
export const ENDING = import.meta.url.endsWith(".ts") ? ".ts" : ".bundle.mjs";

/** Set while record.ts runs: code is written where a process exits. */
export const RECORDING = "RECORD_CODE";
const isRecording = process.env[RECORDING] !== undefined;

/** The script in `text`, with the code kept for `file`; V8 itself finds out whether it fits. */
export function cachedScript(text: string, file: string, filename: string = file): vm.Script {
  const kept = `${file}.code`;
  const cachedData = !isRecording && existsSync(kept) ? readFileSync(kept) : undefined;
  const script = new vm.Script(text, {
    filename,
    cachedData,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (isRecording) process.on("exit", () => writeFileSync(kept, script.createCachedData(), { mode: 0o644 }));
  return script;
}

/** The text of a script. esbuild leaves little that is not ASCII: V8 then gets a string of bytes. */
export function readScript(file: string): string {
  const bytes = readFileSync(file);
  return bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
}

/** The parameters of the function that each bundled script is. */
export const PARAMETERS = "(require, module, exports, meta)";

/** `require` calls that no bundler saw: Node's own evaluates all that a module of its own offers, an HTTP client included. */
function requireFrom(url: string): (name: string) => unknown {
  const require = createRequire(url);
  const lean = (name: string): unknown => process.getBuiltinModule(name) ?? require(name);
  return Object.assign(lean, require);
}

/** What the script beside the bundle at `meta.url` exports: `x.bundle.cjs` beside `x.bundle.mjs`. */
export function loadScript(meta: ImportMeta): Record<string, unknown> {
  const file = fileURLToPath(meta.url).replace(/\.mjs$/, ".cjs");
  const module = { exports: {} };
  const run = cachedScript(readScript(file), file).runInThisContext() as (...parts: unknown[]) => void;
  run(requireFrom(meta.url), module, module.exports, meta);
  return module.exports;
}
