/** What is kept of packages' builds depends on nothing that a project holds, whichever project comes first. */
import assert from "node:assert/strict";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test, type TestContext } from "node:test";
import type * as Esbuild from "esbuild";
import { Opened } from "./opened.ts";
import { onceForPackages } from "./package_builds.ts";
import { toolchainPackages, workFolder } from "./test/work_folder.ts";

const require = createRequire(import.meta.url);
const esbuild = createRequire(require.resolve("convex/package.json"))("esbuild") as typeof Esbuild;

const OWN = 'export const defineApp = () => "my own";';
const json = (value: object): string => JSON.stringify(value);
const led = json({ compilerOptions: { paths: { "convex/server": ["./own.ts"] } } });
const browser = json({ browser: { "convex/server": "./convex/own.ts" } });

/** Ways of a project to lead the definition's import elsewhere, or to change what becomes of it. */
const PROJECTS: Record<string, Record<string, string>> = {
  nothing: {},
  "a tsconfig": { "convex/tsconfig.json": led },
  "a jsconfig": { "convex/jsconfig.json": led },
  "a tsconfig that another one extends": {
    "base.json": led,
    "convex/tsconfig.json": json({ extends: "../base.json" }),
  },
  "a base of all paths": {
    "convex/tsconfig.json": json({ compilerOptions: { baseUrl: "." } }),
    "convex/convex/server.ts": OWN,
  },
  "conditions of its own": {
    "tsconfig.json": json({ compilerOptions: { customConditions: ["require", "react-native"] } }),
  },
  "a map for browsers": { "package.json": browser },
  "a package that is nearer": {
    "convex/node_modules/convex/package.json": json({ name: "convex", exports: { "./server": "./own.ts" } }),
    "convex/node_modules/convex/own.ts": OWN,
  },
  "a folder that is named as the definition": {
    "convex/tsconfig.json": json({
      compilerOptions: { paths: { "convex/server": ["./convex-virtual-config:/own.ts"] } },
    }),
    "convex/convex-virtual-config:/own.ts": OWN,
  },
  "another file of a package": {
    "convex/tsconfig.json": json({
      compilerOptions: { paths: { "convex/server": ["../node_modules/convex/dist/cjs/server/index.js"] } },
    }),
  },
  "other rules for classes": {
    "tsconfig.json": json({ compilerOptions: { target: "ES5", verbatimModuleSyntax: true } }),
  },
};

function makeProject(t: TestContext, files: Record<string, string>): string {
  const folder = path.join(workFolder(t), "project");
  for (const [name, text] of Object.entries({ "convex/own.ts": OWN, ...files })) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  symlinkSync(toolchainPackages, path.join(folder, "node_modules"));
  return folder;
}

/** As the official code builds the definition of an app without a configuration; `round` tells one test's keys from another's. */
function definition(folder: string, round: string): Esbuild.BuildOptions {
  const entry = path.join(folder, "convex", "convex.config.js");
  const virtual: Esbuild.Plugin = {
    name: "convex-virtual-config",
    setup: (bundle) => {
      bundle.onResolve({ filter: /convex\.config\.js$/ }, (found) => ({
        path: found.path,
        namespace: "convex-virtual-config",
      }));
      bundle.onLoad({ filter: /.*/, namespace: "convex-virtual-config" }, () => ({
        contents: 'import { defineApp } from "convex/server"; export default defineApp();',
        resolveDir: path.dirname(entry),
      }));
    },
  };
  return {
    ...{ absWorkingDir: folder, entryPoints: [entry], plugins: [virtual], define: { ROUND: JSON.stringify(round) } },
    ...{
      bundle: true,
      write: false,
      metafile: true,
      minify: true,
      keepNames: true,
      platform: "browser",
      format: "esm",
    },
    ...{ sourcemap: "external", sourcesContent: false, outdir: "/", outbase: "/", logLevel: "silent" },
    conditions: ["convex", "module"],
  };
}

/** Paths, texts and inputs of a build; null where it fails. */
async function shown(building: Promise<Esbuild.BuildResult>): Promise<unknown> {
  const result = await building.catch(() => null);
  if (!result) return null;
  return [result.outputFiles!.map((file) => [file.path, file.text]), result.metafile];
}

/** A build in `folder`, with what it opened. */
async function followed(
  options: Esbuild.BuildOptions,
  folder: string,
): Promise<{ result: Esbuild.BuildResult; opened: Opened }> {
  const opened = new Opened(folder);
  const result = await esbuild.build({ ...options, plugins: [opened.plugin, ...(options.plugins ?? [])] });
  return { result, opened };
}

const once = async (options: Esbuild.BuildOptions, folder: string): Promise<Esbuild.BuildResult> =>
  (await onceForPackages(options, folder, (each) => followed(each, folder))).result;

for (const [what, files] of Object.entries(PROJECTS)) {
  test(`${what} in a project changes its own builds alone`, async (t) => {
    const [theirs, plain] = [makeProject(t, files), makeProject(t, {})];
    for (const order of [
      [theirs, plain, theirs],
      [plain, theirs, plain],
    ]) {
      const round = `${what} ${order.indexOf(plain)}`;
      for (const folder of order) {
        assert.deepEqual(
          await shown(once(definition(folder, round), folder)),
          await shown(esbuild.build(definition(folder, round))),
        );
      }
    }
  });
}

test("a manifest of Yarn in a project leads the imports of packages elsewhere in its own builds alone", async (t) => {
  // React's part of `convex` stands for a component: it imports another package by its name.
  const entry = path.join(realpathSync(toolchainPackages), "convex", "dist", "esm", "react", "index.js");
  const folders = [true, false].map((hasManifest) => {
    const project = makeProject(t, { "fake/package.json": "{}", "fake/index.js": "module.exports = 'my own';" });
    const location = (folder: string): string => `${path.relative(project, folder)}/`;
    const packages = [
      [null, [[null, { packageLocation: "./", packageDependencies: [] }]]],
      [
        "convex",
        [
          [
            "1",
            { packageLocation: location(entry.slice(0, entry.indexOf("dist"))), packageDependencies: [["react", "1"]] },
          ],
        ],
      ],
      ["react", [["1", { packageLocation: "./fake/", packageDependencies: [] }]]],
    ];
    if (hasManifest) writeFileSync(path.join(project, ".pnp.data.json"), json({ packageRegistryData: packages }));
    return project;
  });
  const options = (folder: string): Esbuild.BuildOptions => ({
    ...definition(folder, "manifest"),
    ...{ entryPoints: [entry], plugins: [], outdir: path.join(folder, "out"), minify: false },
  });
  const texts: string[] = [];
  for (const folder of [...folders, ...folders.toReversed()]) {
    const expected = await shown(esbuild.build(options(folder)));
    assert.deepEqual(await shown(once(options(folder), folder)), expected);
    texts.push(JSON.stringify(expected));
  }
  assert.deepEqual(
    texts.map((text) => text.includes("my own")),
    [true, false, false, true],
  );
});

test("the definition without a file is built once for projects that lead nothing elsewhere", async (t) => {
  let builds = 0;
  for (const folder of [makeProject(t, {}), makeProject(t, {}), makeProject(t, { "package.json": "{}" })]) {
    await onceForPackages(definition(folder, "count"), folder, (options) => {
      if (options.sourcemap) builds++; // the others end at the border of the packages
      return followed(options, folder);
    });
  }
  assert.equal(builds, 1);
});
