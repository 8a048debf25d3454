/** The scripts that the backend evaluates: its engine, once for each deployment, and what comes before an app's modules. */
import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CONVEX_TEST_FILE, patchedConvexTest } from "../backend/realm/convex_test.ts";
import { ISOLATE } from "../backend/realm/isolate_build.ts";
import { ROOT, SCRIPT, buildInto } from "./bundles.ts";

/** The script of `backend/isolate/entry.ts`. */
export async function buildIsolate(file: string): Promise<void> {
  rmSync(`${file}.code`, { force: true });
  await buildInto(file, ISOLATE);
}

/** The modules of the engine as one script: reading and stripping them took half of the backend's start. */
export async function buildRuntime(file: string): Promise<void> {
  const runtime = path.join(ROOT, "backend", "runtime");
  rmSync(`${file}.code`, { force: true });
  await buildInto(file, {
    ...SCRIPT,
    entryPoints: [path.join(runtime, "entry.ts")],
    platform: "neutral",
    external: ["embedded:host", "node:async_hooks"],
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
}
