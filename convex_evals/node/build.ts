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
import { readFileSync } from "node:fs";
import path from "node:path";
import { transform } from "esbuild";
import { BUILTINS, MODULE, ROOT, SCRIPT, buildInto, buildScript } from "./bundling/bundles.ts";
import { buildOfficial } from "./bundling/official.ts";
import { buildIsolate, buildRuntime } from "./bundling/runtime.ts";
import { CONDITIONS } from "./tester/resolution.ts";

await buildOfficial();
await buildRuntime(path.join(ROOT, "backend", "app", "runtime.bundle.cjs"));
await buildIsolate(path.join(ROOT, "backend", "app", "isolate.bundle.cjs"));
const { code: watchdogText } = await transform(
  readFileSync(path.join(ROOT, "backend", "realm", "watchdog_thread.ts"), "utf8"),
  { loader: "ts", target: "node24" },
);
// Every graded project starts a backend or two; as one file they start in a third of the time. It stands beside the modules
// that it was made of: they find others by their own place.
await buildScript("backend/main.ts", "backend/app/backend", ["startBackend"], {
  // For pushes of the official command line alone.
  external: ["esbuild"],
  plugins: [
    BUILTINS,
    {
      name: "bundled-runtime",
      setup(bundle) {
        const contents = `import { fileURLToPath } from "node:url";
          export const BUNDLED_RUNTIME = fileURLToPath(new URL("./runtime.bundle.cjs", import.meta.url));
          export const BUNDLED_ISOLATE = fileURLToPath(new URL("./isolate.bundle.cjs", import.meta.url));
          export const BUNDLED_WATCHDOG = ${JSON.stringify(watchdogText)};`;
        bundle.onLoad({ filter: /bundled_runtime\.ts$/ }, () => ({ contents, resolveDir: ROOT }));
      },
    },
  ],
});

await buildInto(path.join(ROOT, "backend", "node_process", "main.bundle.mjs"), {
  ...MODULE,
  entryPoints: [path.join(ROOT, "backend", "node_process", "main.ts")],
  keepNames: true,
});

// What every graded project starts, without types: stripping them takes Node a tenth of a second in each process. Each
// stands beside its source, and finds other files from there.
for (const name of ["tester/main", "tester/direct", "grader/index"]) {
  await buildInto(path.join(ROOT, `${name}.bundle.mjs`), {
    ...MODULE,
    entryPoints: [path.join(ROOT, `${name}.ts`)],
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
await buildScript("grader/compiler.ts", "grader/compiler", ["compiler"], {
  plugins: [BUILTINS],
  define: { ...SCRIPT.define, __filename: "meta.filename" },
});
await buildScript("grader/page_process.ts", "grader/page_process", [], {
  plugins: [BUILTINS],
  keepNames: true,
  external: ["esbuild"],
});

const start = (file: string, flags: readonly string[] = []): void =>
  void execFileSync(process.execPath, [...flags, path.join(ROOT, file)], { stdio: "inherit" });
start(
  "checker/compile_libraries.ts",
  JSON.parse(readFileSync(path.join(ROOT, "checker", "flags.json"), "utf8")) as string[],
);
// What a grading calls is known when one was made.
start("record.ts");
// esbuild's service would keep the process alive.
process.exit(0);
