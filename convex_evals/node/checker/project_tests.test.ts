import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, unlinkSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { toolchainPackages } from "../push/test/work_folder.ts";
import { found } from "./test/projects.ts";

const VITE = `/// <reference types="vite/client" />\n`;
const DELETING = "export const run = (list: number[]) => { delete list[0]; };\n";
const RULE = "@typescript-eslint/no-array-delete";
const MODULES = `${VITE}import { convexTest } from "convex-test";
import { test } from "vitest";
const modules = import.meta.glob("./**/!(*.*.*)*.*s");
test("it runs", async () => { await convexTest(undefined, modules).run(async () => {}); });
`;
const CONFIG = `import { defineConfig } from "vitest/config";
export default defineConfig({ test: { environment: "edge-runtime", server: { deps: { inline: ["convex-test"] } } } });
`;
const RIGHT = {
  "convex/a.test.ts": MODULES,
  "vitest.config.ts": CONFIG,
  "README.md": "# Tests\n\nRun `npx vitest` (all of them).\n",
  ".gitignore": "node_modules\n*.local\n",
  ".env.local": "CONVEX_DEPLOYMENT=dev:happy-animal-123 # team: a (b)\n",
  ".nvmrc": "24\n",
  LICENSE: "Copyright (c) 2026\n",
  "convex/README.md": "Functions: `query(...)`\n",
  "vite-env.d.ts": `${VITE}declare module "*.svg" { const url: string; export default url; }\n`,
  "src/style.css": "p { color: rgb(0, 0, 0) }\n",
};

test("nothing is found in tests as the documentation of convex-test writes them", async (t) => {
  assert.deepEqual(await found(t, RIGHT), []);
});

/** By how it is loaded: what loads `spec/all.mts`. */
const LOADING: Record<string, Record<string, string>> = {
  "import.meta.glob": { "convex/a.test.ts": `${VITE}import.meta.glob("../spec/*.mts", { eager: true });\n` },
  "vi.importActual": {
    "convex/a.test.ts":
      'import { vi } from "vitest";\nexport const actual: unknown = await vi.importActual("../spec/all.mts");\n',
  },
  "vi.mock": { "convex/a.test.ts": 'import { vi } from "vitest";\nvi.mock("../spec/all.mts");\n' },
  "a worker": { "convex/a.test.ts": 'new Worker(new URL("../spec/all.mts", import.meta.url));\n' },
  setupFiles: {
    "vitest.config.ts": 'const folder = "spec";\nexport default { test: { setupFiles: [`./${folder}/all`] } };\n',
  },
  include: { "vitest.config.mts": 'export default { test: { include: ["spec/**"] } };\n' },
  "a workspace": { "vitest.workspace.js": 'export default [{ test: { include: ["spec/**"] } }];\n' },
  "settings of Vite": {
    "package.json": JSON.stringify({
      name: "a",
      dependencies: { convex: "1.48.0" },
      devDependencies: { vitest: "3.2.7" },
    }),
    "vite.config.ts": 'export default { test: { include: ["spec/**"] } };\n',
  },
};

for (const [what, files] of Object.entries(LOADING)) {
  test(`what a project's tests may load is checked: ${what}`, async (t) => {
    assert.deepEqual(await found(t, { ...files, "spec/all.mts": DELETING }), [`spec/all.mts: ${RULE}`]);
  });
}

test("settings of tests run, and are checked", async (t) => {
  const settings = `${CONFIG}${DELETING}eval("1");\n`;
  assert.deepEqual(await found(t, { ...RIGHT, "vitest.config.ts": settings }), [
    "vitest.config.ts: unchecked",
    `vitest.config.ts: ${RULE}`,
  ]);
});

test("code in files that are not named like code may not stand beside tests", async (t) => {
  for (const name of ["all.md", "all", "all.d.ts", "all.d.mts", "all.foo", "all.vue", ".all"]) {
    const code =
      '/* @__PURE__ */ globalThis.fetch("/"); const x: { wrong: () => void } = globalThis as never;\nx.wrong();\n';
    assert.deepEqual(await found(t, { ...RIGHT, [`spec/${name}`]: code }), [`spec/${name}: unchecked`], name);
  }
});

/** The toolchain has Node's types, which come with no package that tests need. */
function withoutNodeTypes(project: string): void {
  const packages = path.join(project, "node_modules");
  unlinkSync(packages);
  mkdirSync(packages);
  symlinkSync(path.join(toolchainPackages, "convex"), path.join(packages, "convex"));
}

test("settings may use what Node.js has, without its types; other files may not", async (t) => {
  const settings = `import path from "node:path";
const home: string = process.env.HOME ?? __dirname;
export default { test: { setupFiles: [path.resolve(home, "a.ts")] } };
`;
  const errors = async (files: Record<string, string>): Promise<string[]> =>
    (await found(t, { "vitest.config.ts": settings, ...files }, "bare", withoutNodeTypes)).sort();
  assert.deepEqual(await errors({}), []);
  assert.deepEqual(
    await errors({ "spec/vitest.config.ts": settings }),
    ["TS2304", "TS2307", "TS2580"].map((code) => `spec/vitest.config.ts: ${code}`),
  );
  assert.deepEqual(await errors({ "vitest.config.ts": `${settings}nowhere();\n` }), ["vitest.config.ts: TS2304"]);
});
