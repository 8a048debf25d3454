/** The bundle of the official command line's parts. */
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { ROOT } from "./bundles.ts";

/** The version whose internals `push/official.ts` was written against. */
const EXPECTED_CONVEX = "1.48.0";

/** Loaded from node_modules at run time: native, large, or needed as the very same instance. */
const EXTERNAL = ["prettier", "@babel/parser"];

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
  const standIns = new Map([[path.join(root, "bundler", "log.js"), path.join(ROOT, "push", "log.ts")]]);
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
      bundle.onResolve({ filter: /^@sentry\/node$/ }, () => ({ path: path.join(ROOT, "push", "sentry.ts") }));
      bundle.onResolve({ filter: /^(esbuild|prettier)$/ }, (args) =>
        args.importer.startsWith(root) ? { path: path.join(ROOT, "push", `${args.path}.ts`) } : undefined,
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

/** Refuses another version of the package than ours is written against. */
function checkVersion(version: string): void {
  if (version === EXPECTED_CONVEX) return;
  console.error(
    `convex ${version} is installed, but push/official.ts is written against ${EXPECTED_CONVEX}: ` +
      "check its imports against the new version, then raise EXPECTED_CONVEX in bundling/official.ts",
  );
  process.exit(1);
}

/** Builds `build/official.mjs` from `push/official.ts`. */
export async function buildOfficial(): Promise<void> {
  const convex = installed("convex");
  checkVersion(convex.version);
  const out = path.join(ROOT, "build");
  mkdirSync(out, { recursive: true });
  const draft = path.join(out, `official.${process.pid}.mjs`);
  await build({
    entryPoints: [path.join(ROOT, "push", "official.ts")],
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
}
