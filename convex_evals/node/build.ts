/**
 * Bundles the parts of the official Convex command line that we call into `build/official.mjs`, and the backend into
 * `backend/app/backend.bundle.mjs`; the tester and the grader library stand as bundles beside their sources. Then it has
 * `record.ts` grade a sample with them, which leaves their compiled code there.
 *
 * The published `convex` package ships those modules as ES modules that import packages it does not depend on (its
 * own binary is bundled), and closes them off with an exports map; bundling once, when the toolchain is set up,
 * solves both. Run `node build.ts` again whenever the lockfile changes.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform, type BuildOptions, type Plugin } from "esbuild";
import ts from "typescript";
import { CONVEX_TEST_FILE, patchedConvexTest } from "./backend/realm/convex_test.ts";
import { PARAMETERS } from "./code_cache.ts";
import { CONDITIONS } from "./tester/resolution.ts";

/** The version whose internals `push/official.ts` was written against. */
const EXPECTED_CONVEX = "1.48.0";

/** Loaded from node_modules at run time: native, large, or needed as the very same instance. */
const EXTERNAL = ["prettier", "@babel/parser"];

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

/** Reads an installed package's version and folder. */
function installed(name: string): { folder: string; version: string } {
  const manifest = require.resolve(`${name}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  return { folder: path.dirname(manifest), version };
}

/**
 * Packages of the command line's other half: deployments, prompts, downloads, file watching. Bundling and code
 * generation never call them; a call is an error that names the package.
 */
const NEVER_CALLED =
  /^(commander|fetch-retry|dotenv|openapi-fetch|@inquirer\/.*|serve-handler|adm-zip|detect-port|@sentry\/tracing|chokidar)$/;

/** Maps `#official/...` to the package's modules, and what must not run for real to our stand-ins. */
function officialModules(convexFolder: string): Plugin {
  const root = path.join(convexFolder, "dist", "esm");
  const standIns = new Map([[path.join(root, "bundler", "log.js"), path.join(here, "push", "log.ts")]]);
  return {
    name: "official-modules",
    setup(bundle) {
      bundle.onResolve({ filter: /^(#official\/|\.)/ }, (args) => {
        const file = args.path.startsWith("#official/")
          ? path.join(root, args.path.slice("#official/".length))
          : path.resolve(args.resolveDir, args.path);
        if (!file.startsWith(root)) return undefined;
        // Without side effects, esbuild leaves out every module that nothing we call refers to.
        return { path: standIns.get(file) ?? file, sideEffects: false };
      });
      bundle.onResolve({ filter: /^@sentry\/node$/ }, () => ({ path: path.join(here, "push", "sentry.ts") }));
      bundle.onResolve({ filter: /^(esbuild|prettier)$/ }, (args) =>
        args.importer.startsWith(root) ? { path: path.join(here, "push", `${args.path}.ts`) } : undefined,
      );
      // The command line is written against zod 3; ours is 4, which ships the old interface as a sub-path.
      bundle.onResolve({ filter: /^zod$/ }, () => ({ path: require.resolve("zod/v3") }));
      bundle.onResolve({ filter: NEVER_CALLED }, (args) => ({ path: args.path, namespace: "never-called" }));
      bundle.onLoad({ filter: /.*/, namespace: "never-called" }, (args) => ({
        // fetch-retry is a factory that is called while its importer loads, so only the second call is refused.
        contents: `const refuse = () => { throw new Error(${JSON.stringify(`${args.path} is not part of the toolchain`)}); };
          module.exports = new Proxy(function () {}, {
            apply: () => refuse,
            construct: refuse,
            get: (_target, key) => (key === "__esModule" ? undefined : module.exports),
          });`,
      }));
    },
  };
}

/**
 * Node's own modules, as `require` gives them. To import one as an ES module evaluates all that it offers: with
 * `node:http` comes an HTTP client, which takes twice as long to load as the rest of the backend.
 */
const BUILTINS: Plugin = {
  name: "builtins",
  setup(bundle) {
    bundle.onResolve({ filter: /^[a-z_:/]+$/ }, ({ path: name }) =>
      isBuiltin(name) ? { path: name, namespace: "builtin" } : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

const BUILTIN =
  "const __builtin = (name) => { const whole = process.getBuiltinModule(name); return Object.create(whole, { default: { value: whole } }); };";

/** esbuild copies all that a module offers for whoever imports some of it; of Node's own, that loads what nobody uses. */
function withoutCopies(text: string): string {
  const builtins = new Map(
    [...text.matchAll(/var (require_\w+) = __commonJS\(\{\s*"builtin:([^"]+)"/g)].map(([, name, module]) => [
      name,
      module,
    ]),
  );
  return text.replace(/__toESM\((require_\w+)\(\), 1\)/g, (copy, name: string) => {
    const module = builtins.get(name);
    return module === undefined ? copy : `__builtin(${JSON.stringify(module)})`;
  });
}

/** A script for `code_cache.ts`: a function, as Node makes one of each CommonJS module. */
const SCRIPT = {
  bundle: true,
  format: "cjs",
  target: "node24",
  banner: { js: `(function ${PARAMETERS} { "use strict"; ${BUILTIN}` },
  footer: { js: "})" },
  define: { "import.meta.url": "meta.url", "import.meta.main": "meta.main", "import.meta.resolve": "meta.resolve" },
  logLevel: "warning",
} as const satisfies BuildOptions;

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

/** A module that Node runs as it is. */
const MODULE = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  banner: { js: BUILTIN },
  plugins: [BUILTINS],
  logLevel: "warning",
} as const satisfies BuildOptions;

/** Builds into a file that is complete when it is there. */
async function buildInto(file: string, options: BuildOptions): Promise<void> {
  const draft = `${file}.${process.pid}`;
  const { outputFiles } = await build({ ...options, outfile: file, write: false });
  writeFileSync(draft, withoutCopies(outputFiles[0]!.text));
  renameSync(draft, file);
}

/** Builds `source` into the script `name`.bundle.cjs, and beside it the module that loads it and exports the same names. */
async function buildScript(
  source: string,
  name: string,
  names: readonly string[],
  options: BuildOptions,
): Promise<void> {
  const bundle = path.join(here, `${name}.bundle`);
  rmSync(`${bundle}.cjs.code`, { force: true });
  await buildInto(`${bundle}.cjs`, { ...SCRIPT, platform: "node", ...options, entryPoints: [path.join(here, source)] });
  const loader = `import { loadScript } from "./code_cache.ts";
    const loaded = loadScript(import.meta);
    ${names.map((each) => `export const ${each} = loaded[${JSON.stringify(each)}];`).join("\n")}`;
  const stdin = { contents: loader, resolveDir: here, loader: "ts" } as const;
  await buildInto(`${bundle}.mjs`, { ...MODULE, stdin });
}

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
async function buildRuntime(file: string): Promise<void> {
  const runtime = path.join(here, "backend", "runtime");
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

const convex = installed("convex");
if (convex.version !== EXPECTED_CONVEX) {
  console.error(
    `convex ${convex.version} is installed, but push/official.ts is written against ${EXPECTED_CONVEX}: ` +
      "check its imports against the new version, then raise EXPECTED_CONVEX in build.ts",
  );
  process.exit(1);
}
const out = path.join(here, "build");
mkdirSync(out, { recursive: true });
const draft = path.join(out, `official.${process.pid}.mjs`);
await build({
  entryPoints: [path.join(here, "push", "official.ts")],
  outfile: draft,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  external: EXTERNAL,
  plugins: [officialModules(convex.folder)],
  // CommonJS dependencies inside the bundle call require().
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  // Switches of the command line that the environment must not be able to turn.
  define: {
    "process.env.CONVEX_VERSION_OVERRIDE": "undefined",
    "process.env.CONVEX_VERBOSE": "undefined",
    "process.env.CONVEX_PROVISION_HOST": "undefined",
    "process.env.CONVEX_TMPDIR": "undefined",
  },
  logLevel: "warning",
});
// A rename makes an interrupted build invisible.
renameSync(draft, path.join(out, "official.mjs"));

await buildRuntime(path.join(here, "backend", "app", "runtime.bundle.cjs"));
const { code: watchdogText } = await transform(
  readFileSync(path.join(here, "backend", "realm", "watchdog_thread.ts"), "utf8"),
  { loader: "ts", target: "node24" },
);
// Every graded project starts a backend or two; as one file they start in a third of the time. It stands beside the modules
// that it was made of: they find others by their own place.
await buildScript("backend/main.ts", "backend/app/backend", ["startBackend"], {
  plugins: [
    BUILTINS,
    {
      name: "bundled-runtime",
      setup(bundle) {
        const contents = `import { fileURLToPath } from "node:url";
          export const BUNDLED_RUNTIME = fileURLToPath(new URL("./runtime.bundle.cjs", import.meta.url));
          export const BUNDLED_WATCHDOG = ${JSON.stringify(watchdogText)};`;
        bundle.onLoad({ filter: /bundled_runtime\.ts$/ }, () => ({ contents, resolveDir: here }));
      },
    },
  ],
});

await buildInto(path.join(here, "backend", "node_process", "main.bundle.mjs"), {
  ...MODULE,
  entryPoints: [path.join(here, "backend", "node_process", "main.ts")],
  keepNames: true,
});

// What every graded project starts, without types: stripping them takes Node a tenth of a second in each process. Each
// stands beside its source, and finds other files from there.
for (const name of ["tester/main", "tester/direct", "grader/index"]) {
  await buildInto(path.join(here, `${name}.bundle.mjs`), {
    ...MODULE,
    entryPoints: [path.join(here, `${name}.ts`)],
    packages: "external",
    keepNames: true,
  });
}
// The same copies of packages as graders would get.
await buildScript("tester/vitest.ts", "tester/vitest", ["modules"], {
  conditions: CONDITIONS,
  plugins: [BUILTINS],
  keepNames: true,
});
await buildScript("grader/library.ts", "grader/library", ["modules", "setUp"], {
  conditions: CONDITIONS,
  plugins: [BUILTINS],
  keepNames: true,
  external: ["esbuild", "typescript"],
});
await buildScript("grader/page_process.ts", "grader/page_process", [], {
  plugins: [BUILTINS],
  keepNames: true,
  external: ["esbuild"],
});

const start = (file: string, flags: readonly string[] = []): void =>
  void execFileSync(process.execPath, [...flags, path.join(here, file)], { stdio: "inherit" });
start(
  "checker/compile_libraries.ts",
  JSON.parse(readFileSync(path.join(here, "checker", "flags.json"), "utf8")) as string[],
);
// What a grading calls is known when one was made.
start("record.ts");
// esbuild's service would keep the process alive.
process.exit(0);
