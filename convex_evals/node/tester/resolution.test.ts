import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { GRADER, makeSuite, runTester } from "./test/tester_process.ts";

/** A package with one file, as text for `makeSuite`. */
function fakePackage(folder: string, name: string, answer: string): Record<string, string> {
  return {
    [`${folder}/node_modules/${name}/package.json`]: JSON.stringify({
      name,
      version: "1.0.0",
      type: "module",
      exports: "./index.js",
    }),
    [`${folder}/node_modules/${name}/index.js`]: `export const answer = ${JSON.stringify(answer)};\n`,
  };
}

test("imports come from the suite, then from the given packages, then from the toolchain", async (t) => {
  const suite = makeSuite(t, {
    [GRADER]: `import { expect, test } from "vitest";
import type { Missing } from "types-only";
import { answer as near } from "near";
import { answer as far } from "far";
import { helper } from "../../../grader";
import { twice } from "../../../grader/native.mjs";
import { api } from "./answer/convex/_generated/api";
import { getFunctionName } from "convex/server";
import * as library from "convex-evals/grader";
test("all", () => {
  const wanted: Missing = { near: "suite", far: "store" };
  expect({ near, far }).toEqual(wanted);
  expect(helper).toBe("store");
  expect(twice).toBe("storestore");
  expect(getFunctionName(api.a.b)).toBe("a:b");
  expect(Object.keys(library).length).toBeGreaterThan(0);
});
`,
    "evals/000-a/000-b/answer/convex/_generated/api.js":
      'import { anyApi } from "convex/server";\nexport const api = anyApi;\n',
    "evals/000-a/000-b/answer/convex/_generated/api.d.ts": "export declare const api: any;\n",
    "grader/index.ts": 'import { answer } from "far";\nexport const helper = answer;\n',
    "grader/native.mjs": 'import { answer } from "far";\nexport const twice = answer + answer;\n',
    ...fakePackage(".", "near", "suite"),
    ...fakePackage("store", "near", "store"),
    ...fakePackage("store", "far", "store"),
  });
  const { verdict } = await runTester(suite, GRADER, { packages: [path.join(suite, "store")] });
  assert.deepEqual(verdict.errors, []);
  assert.deepEqual(
    verdict.tests.map(({ outcome, message }) => [outcome, message]),
    [["passed", null]],
  );
});

test("require and environments find what imports find", async (t) => {
  const suite = makeSuite(t, {
    "require.test.ts": `import { createRequire } from "node:module";
import { expect, test } from "vitest";
test("typescript", () => { expect(createRequire(import.meta.url)("typescript").version).toMatch(/^5/); });
test("store", () => { expect(createRequire(import.meta.url)("stored/value.json").answer).toBe("store"); });
`,
    "dom.test.ts": `// @vitest-environment happy-dom
import { expect, test } from "vitest";
test("document", () => { expect(document.createElement("p").tagName).toBe("P"); });
`,
    "store/node_modules/stored/package.json": "{}",
    "store/node_modules/stored/value.json": '{"answer": "store"}',
  });
  for (const grader of ["require.test.ts", "dom.test.ts"]) {
    const { verdict } = await runTester(suite, grader, { packages: [path.join(suite, "store")] });
    assert.deepEqual(verdict.errors, [], grader);
    assert.ok(
      verdict.tests.length > 0 && verdict.tests.every(({ outcome }) => outcome === "passed"),
      JSON.stringify(verdict),
    );
  }
});
