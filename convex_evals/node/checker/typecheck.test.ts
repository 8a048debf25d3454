import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { toolchainPackages, workFolder } from "../push/test/work_folder.ts";
import { addFiles, makeProject } from "./test/projects.ts";
import { typecheck } from "./typecheck.ts";

const CONVEX_TSCONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    skipLibCheck: true,
    target: "ESNext",
    module: "ESNext",
    moduleResolution: "Bundler",
    lib: ["ES2023", "DOM"],
    noEmit: true,
    jsx: "react-jsx",
  },
  include: ["./**/*"],
  exclude: ["./_generated"],
});
const WRONG = 'export const wrong: number = "text";\n';

function codes(project: string): string[] {
  return typecheck(project).diagnostics.map(({ file, code }) => `${file} ${code}`);
}

test("an error is reported with file, line, column and code", async (t) => {
  const project = await makeProject(t, "bare", {
    "convex/wrong.ts": `\n  ${WRONG}`,
    "convex/tsconfig.json": CONVEX_TSCONFIG,
  });
  const result = typecheck(project);
  assert.equal(result.ok, false);
  assert.deepEqual(result.repairs, []);
  assert.deepEqual(result.diagnostics, [
    {
      file: "convex/wrong.ts",
      line: 2,
      column: 16,
      code: "TS2322",
      message: "Type 'string' is not assignable to type 'number'.",
    },
  ]);
});

test("a long message keeps its end, which says what does not fit", async (t) => {
  const fields = Array.from({ length: 100 }, (_, n) => `field${n}: string`).join("; ");
  const { compilerOptions, ...rest } = JSON.parse(CONVEX_TSCONFIG);
  const project = await makeProject(t, "bare", {
    "convex/wrong.ts": `declare const given: { ${fields}; last: { x: string } };\nexport const wanted: { ${fields}; last: { x: number } } = given;\n`,
    "convex/tsconfig.json": JSON.stringify({
      ...rest,
      compilerOptions: { ...compilerOptions, noErrorTruncation: true },
    }),
  });
  const [problem, ...others] = typecheck(project).diagnostics;
  assert.deepEqual(others, []);
  assert.match(
    problem?.message ?? "",
    /^Type '\{ field0: string; .*\n…\n.*\n  The types of 'last\.x' are incompatible .*\n    Type 'string' is not assignable to type 'number'\.$/,
  );
  assert.ok(problem && problem.message.length < 2100);
});

test("a missing tsconfig is seeded and said so", async (t) => {
  const project = await makeProject(t, "bare", {
    "convex/web.ts": "export const all = async (r: Response) => { for await (const c of r.body!) console.log(c); };\n",
    "src/App.tsx": "export const App = () => <p>hello</p>;\n",
  });
  const result = typecheck(project);
  assert.deepEqual(result.diagnostics, []);
  assert.equal(result.repairs.length, 1);
  assert.match(result.repairs[0] ?? "", /^tsconfig\.json: missing/);
  assert.deepEqual(Object.keys(result.repaired), ["tsconfig.json"]);
  addFiles(project, result.repaired);
  assert.deepEqual(typecheck(project), { ...result, repairs: [], repaired: {} });
});

test("files that the project's own tsconfig leaves out are checked all the same", async (t) => {
  const project = await makeProject(t, "bare", {
    "tsconfig.json": JSON.stringify({
      compilerOptions: JSON.parse(CONVEX_TSCONFIG).compilerOptions,
      include: ["nothing"],
    }),
    "convex/tsconfig.json": JSON.stringify({ ...JSON.parse(CONVEX_TSCONFIG), exclude: ["./hidden"] }),
    "convex/hidden/wrong.ts": WRONG,
    "src/Wrong.tsx": WRONG,
    "vite.config.ts": WRONG,
    "node_modules_not/wrong.ts": WRONG,
  });
  assert.deepEqual(codes(project), ["convex/hidden/wrong.ts TS2322", "src/Wrong.tsx TS2322"]);
  addFiles(project, {
    "tsconfig.json": JSON.stringify({
      compilerOptions: JSON.parse(CONVEX_TSCONFIG).compilerOptions,
      include: ["vite.config.ts"],
    }),
  });
  assert.ok(codes(project).includes("vite.config.ts TS2322"));
});

test("each file is judged by its own tsconfig, once", async (t) => {
  const loose = JSON.stringify({
    compilerOptions: { ...JSON.parse(CONVEX_TSCONFIG).compilerOptions, strict: false },
  });
  const project = await makeProject(t, "bare", {
    "tsconfig.json": loose,
    "convex/tsconfig.json": CONVEX_TSCONFIG,
    "convex/strictly.ts": "export const length = (text) => text.length;\n",
    "src/loosely.ts": 'export { length } from "../convex/strictly";\nexport const size = (text) => text.length;\n',
  });
  assert.deepEqual(codes(project), ["convex/strictly.ts TS7006", "src/loosely.ts TS7006"]);
  const asItSays = typecheck(project, { strict: false }).diagnostics.map(({ file, code }) => `${file} ${code}`);
  assert.deepEqual(asItSays, ["convex/strictly.ts TS7006"], "a suite may leave it to the project");
});

test("no setting makes the check of a project less strict", async (t) => {
  const loose = {
    strict: false,
    noImplicitAny: false,
    noImplicitThis: false,
    strictNullChecks: false,
    strictFunctionTypes: false,
    strictBindCallApply: false,
    strictPropertyInitialization: false,
    useUnknownInCatchVariables: false,
    alwaysStrict: false,
    strictBuiltinIteratorReturn: false,
    noCheck: true,
    noResolve: true,
    checkJs: false,
    allowJs: false,
  };
  const { compilerOptions } = JSON.parse(CONVEX_TSCONFIG) as { compilerOptions: object };
  const project = await makeProject(t, "bare", {
    "convex/tsconfig.json": JSON.stringify({ compilerOptions: { ...compilerOptions, ...loose } }),
    "convex/any.ts": "export const size = (text) => text.length;\n",
    "convex/null.ts": "export const text: string = null;\n",
    "convex/caught.ts":
      "export const work = (): string => { try { return ''; } catch (error) { return error.message; } };\n",
    "convex/field.ts": "export class A { text: string; }\n",
    "convex/called.ts": "export const n = ((a: number) => a).call(null, 'text');\n",
    "convex/assigned.ts": "export const f: (a: string | number) => void = (a: string) => void a;\n",
  });
  assert.deepEqual(codes(project), [
    "convex/any.ts TS7006",
    "convex/assigned.ts TS2322",
    "convex/called.ts TS2345",
    "convex/caught.ts TS18046",
    "convex/field.ts TS2564",
    "convex/null.ts TS2322",
  ]);
});

test("types that do not resolve are dropped, legacy resolution is replaced", async (t) => {
  const project = await makeProject(t, "bare", {
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        target: "es2020",
        module: "commonjs",
        moduleResolution: "node",
        lib: ["ES2022"],
        strict: true,
        types: ["node", "no-such-types"],
        composite: true,
        declaration: true,
        plugins: [{ name: "next" }],
        jsx: "react-jsx",
      },
    }),
    "convex/logs.ts": "export const log = () => console.log(process.env.NAME, fetch);\n",
  });
  const result = typecheck(project);
  assert.deepEqual(result.diagnostics, []);
  assert.deepEqual(result.repairs, [
    "tsconfig.json: module resolution node10 became Bundler with module ESNext and DOM in lib",
    "tsconfig.json: dropped the 'types' entry 'no-such-types', which does not resolve",
  ]);
  const repaired = JSON.parse(result.repaired["tsconfig.json"] ?? "") as { compilerOptions: Record<string, unknown> };
  const { module, moduleResolution, lib, types, target, composite } = repaired.compilerOptions;
  assert.deepEqual([module, moduleResolution, lib], ["ESNext", "Bundler", ["es2022", "dom"]]);
  assert.deepEqual([types, target, composite], [["node"], "es2020", true]);
  addFiles(project, result.repaired);
  assert.deepEqual(typecheck(project), { ...result, repairs: [], repaired: {} });
});

test("a root tsconfig that only refers to others is followed", async (t) => {
  const { compilerOptions } = JSON.parse(CONVEX_TSCONFIG) as { compilerOptions: object };
  const project = await makeProject(t, "bare", {
    "tsconfig.json": JSON.stringify({
      files: [],
      references: [{ path: "./tsconfig.node.json" }, { path: "./tsconfig.app.json" }],
    }),
    "tsconfig.app.json": JSON.stringify({
      compilerOptions: { ...compilerOptions, noUnusedLocals: true },
      include: ["src"],
    }),
    "tsconfig.node.json": JSON.stringify({ compilerOptions, include: ["vite.config.ts"] }),
    "vite.config.ts": "export default {};\n",
    "src/App.tsx": "const unused = 1;\nexport const App = () => <p>hello</p>;\n",
  });
  const result = typecheck(project);
  assert.deepEqual(
    result.diagnostics.map(({ file, code }) => `${file} ${code}`),
    ["src/App.tsx TS6133"],
  );
  assert.match(result.repairs.join("\n"), /^a tsconfig that covers convex\/: missing/);
});

test("a broken tsconfig fails the project and says where", async (t) => {
  for (const text of ["{ broken", '{ "extends": "./nowhere.json" }', '{ "compilerOptions": { "target": "ES1999" } }']) {
    const project = await makeProject(t, "bare");
    addFiles(project, { "convex/tsconfig.json": text });
    const result = typecheck(project);
    assert.equal(result.ok, false, text);
    assert.ok(
      result.diagnostics.some(({ file }) => file === "convex/tsconfig.json"),
      JSON.stringify(result),
    );
  }
});

test("settings cannot switch the check off", async (t) => {
  const project = await makeProject(t, "bare", {
    "tsconfig.json": JSON.stringify({
      compilerOptions: { ...JSON.parse(CONVEX_TSCONFIG).compilerOptions, noCheck: true, incremental: true },
    }),
    "convex/wrong.ts": WRONG,
  });
  assert.deepEqual(codes(project), ["convex/wrong.ts TS2322"]);
});

test("the compiler sees nothing of the host outside project and packages", async (t) => {
  const outside = workFolder(t);
  writeFileSync(path.join(outside, "secret.ts"), "export const secret = { password: 1 } as const;\n");
  const project = await makeProject(t, "bare");
  addFiles(project, {
    "convex/leak.ts": `import { secret } from "${outside}/secret";\nexport const a: string = secret;\n`,
    "convex/link.ts": 'import { secret } from "./linked";\nexport const a: string = secret;\n',
  });
  symlinkSync(path.join(outside, "secret.ts"), path.join(project, "convex", "linked.ts"));
  const result = typecheck(project);
  assert.deepEqual(
    result.diagnostics.map(({ file, code }) => `${file} ${code}`),
    ["convex/leak.ts TS2307", "convex/link.ts TS2307"],
  );
  assert.doesNotMatch(JSON.stringify(result), /password/);
});

test("a changed project is checked anew, and projects do not see each other", async (t) => {
  const first = await makeProject(t, "bare", {
    "convex/globals.ts": "export {};\ndeclare global { var shared: number }\n",
  });
  assert.deepEqual(codes(first), []);
  const second = await makeProject(t, "bare", { "convex/uses.ts": "export const a = shared;\n" });
  assert.deepEqual(codes(second), ["convex/uses.ts TS2304"]);
  assert.deepEqual(codes(second), ["convex/uses.ts TS2304"]);
  addFiles(second, { "convex/uses.ts": "export const a = 1;\n" });
  assert.deepEqual(codes(second), []);
});

/** Instead of the toolchain's packages, these of them, and one without types. */
function linkPackages(project: string, names: string[]): void {
  const folder = path.join(project, "node_modules");
  rmSync(folder);
  mkdirSync(folder);
  for (const name of names) symlinkSync(path.join(toolchainPackages, name), path.join(folder, name));
  addFiles(folder, { "untyped/package.json": '{ "main": "main.js" }', "untyped/main.js": "exports.one = 1;\n" });
}

test("a package without types has those that the suite or the toolchain has for it", async (t) => {
  const project = await makeProject(t, "bare", {
    "src/App.tsx":
      'import { useState } from "react";\nexport default function App() {\n  const [n, set] = useState(0);\n  return <p onClick={() => set("one")}>{n}</p>;\n}\n',
    "src/main.ts":
      'import { one } from "untyped";\nimport { two } from "absent";\nexport const all: string = one + two;\n',
  });
  linkPackages(project, ["convex", "react"]);
  const wrong = "src/App.tsx TS2345";
  assert.deepEqual(codes(project), [wrong, "src/main.ts TS7016", "src/main.ts TS2307"]);
  const suite = workFolder(t);
  addFiles(suite, { "node_modules/@types/untyped/index.d.ts": "export const one: number;\n" });
  addFiles(suite, { "node_modules/@types/absent/index.d.ts": "export const two: number;\n" });
  const { diagnostics } = typecheck(project, { strict: true, types: [suite] });
  assert.deepEqual(
    diagnostics.map(({ file, code }) => `${file} ${code}`),
    [wrong, "src/main.ts TS2307"],
  );
});
