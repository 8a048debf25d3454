/** The script that the backend evaluates beside each app, and which globals it may look up. */
import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { CONVEX_TEST_FILE, patchedConvexTest } from "../backend/realm/convex_test.ts";
import { ROOT, SCRIPT, buildInto } from "./bundles.ts";

// The app's code may replace the globals that it shares with the runtime, which keeps those that were there before.
const CAPTURED = [
  "Array",
  "ArrayBuffer",
  "BigInt",
  "Blob",
  "DOMException",
  "Date",
  "DataView",
  "Error",
  "EvalError",
  "Function",
  "JSON",
  "Map",
  "Number",
  "Object",
  "Promise",
  "Proxy",
  "RangeError",
  "ReadableStream",
  "ReferenceError",
  "Reflect",
  "RegExp",
  "Set",
  "String",
  "Symbol",
  "SyntaxError",
  "TextEncoder",
  "TypeError",
  "URIError",
  "URL",
  "Uint8Array",
  "WeakMap",
  "btoa",
  "isFinite",
  "isNaN",
  "parseInt",
] as const;

// The app's code may also change these objects.
const COPIED = `const Math = Object.create(null, Object.getOwnPropertyDescriptors(globalThis.Math));
  const crypto = { subtle: { digest: globalThis.SubtleCrypto.prototype.digest.bind(globalThis.crypto.subtle) } };`;

/** Globals that the runtime looks up each time, and why it may. */
const LOOKED_UP: Readonly<Record<string, string>> = {
  Convex: "it cannot be replaced",
  Infinity: "it cannot be replaced",
  Request: "HTTP actions get it: theirs to change; to load it takes longer than the rest of the runtime",
  Response: "HTTP actions return it: theirs to change; to load it takes longer than the rest of the runtime",
  console: "what it is told is for the log of the app's functions",
  process: "only code for Node.js asks, of which the runtime has none",
  window: "only pages have it; with it, the convex package warns",
};

/** Refuses a script that looks up globals which are neither captured nor known. */
function checkGlobals(file: string): void {
  const program = ts.createProgram([file], {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    noLib: true,
    noResolve: true,
    types: [],
  });
  const messages = program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
  const names = new Set(messages.flatMap((message) => /^Cannot find name '([^']+)'/.exec(message)?.[1] ?? []));
  const unknown = [...names].filter((name) => !Object.hasOwn(LOOKED_UP, name));
  if (!names.has("Convex")) throw new Error(`${file}: the check for globals finds none, as it should`);
  if (unknown.length > 0) {
    throw new Error(
      `${file} looks up ${unknown.join(", ")}, which the app's code may have replaced: add it to CAPTURED, or to LOOKED_UP with the reason`,
    );
  }
}

/** The modules that the backend evaluates beside each app, as one script: reading and stripping them took half its start. */
export async function buildRuntime(file: string): Promise<void> {
  const runtime = path.join(ROOT, "backend", "runtime");
  rmSync(`${file}.code`, { force: true });
  await buildInto(file, {
    ...SCRIPT,
    entryPoints: [path.join(runtime, "entry.ts")],
    platform: "neutral",
    external: ["embedded:host", "node:async_hooks"],
    banner: { js: `${SCRIPT.banner.js} const { ${CAPTURED.join(", ")} } = globalThis; ${COPIED}` },
    define: { ...SCRIPT.define, "globalThis.Object": "Object" },
    keepNames: true,
    plugins: [
      {
        name: "embedded",
        setup(bundle) {
          bundle.onResolve({ filter: /^embedded:seams$/ }, () => ({ path: path.join(runtime, "seams.ts") }));
          bundle.onResolve({ filter: /^embedded:convex-test$/ }, () => ({
            path: CONVEX_TEST_FILE,
            namespace: "patched",
          }));
          bundle.onLoad({ filter: /.*/, namespace: "patched" }, () => ({
            contents: patchedConvexTest(),
            resolveDir: path.dirname(CONVEX_TEST_FILE),
          }));
          bundle.onResolve({ filter: /^convex\/(server|values)$/ }, ({ path: name }) => ({
            path: fileURLToPath(import.meta.resolve(name)),
          }));
        },
      },
    ],
  });
  checkGlobals(file);
}
