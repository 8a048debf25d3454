import assert from "node:assert/strict";
import { test } from "node:test";
import { found } from "./test/projects.ts";

const FLOATING = "export const run = () => { Promise.resolve(1); };\n";
const DELETING = "export const run = (list: number[]) => { delete list[0]; };\n";
const RULE = "@typescript-eslint/no-floating-promises";

test("nothing is found in what is right", async (t) => {
  for (const app of ["bare", "schema", "local_component"] as const) assert.deepEqual(await found(t, {}, app), [], app);
});

test("JavaScript that runs is checked, but for types that it cannot have", async (t) => {
  assert.deepEqual(
    await found(t, {
      "convex/right.js":
        "/** @param {string} text */\nexport const size = (text) => text.length;\nexport const twice = (n) => n * 2;\n",
      "convex/wrong.js": "export const size = () => (1).length;\n",
      "convex/uses.ts": 'import { twice } from "./right.js";\nexport const four: number = twice(2);\n',
      "eslint.config.js": "export default [(1).length];\n",
      "scripts/once.mjs": "console.log((1).length);\n",
    }),
    ["convex/wrong.js: TS2339"],
  );
});

test("what is imported is checked and linted wherever it lies; tests and configuration are not", async (t) => {
  assert.deepEqual(
    await found(t, {
      "convex/uses.ts": 'export { run } from "../lib/deep/run";\n',
      "lib/deep/run.ts": FLOATING,
      "lib/unused.ts": FLOATING,
      "vite.config.ts": FLOATING,
    }),
    [`lib/deep/run.ts: ${RULE}`],
  );
});

test("files are linted whatever characters their names have", async (t) => {
  const names = ["[[...id]]", "(group)", "@slot", "!not", "{a,b}", ".hidden", "é", "a b", "`$x`", "+(x)", "x'y", "a~"];
  const files = names.flatMap((name) => [`src/${name}.ts`, `src/${name}/index.ts`, `src/${name}/${name}.test.ts`]);
  assert.deepEqual(
    (await found(t, Object.fromEntries(files.map((file) => [file, DELETING])))).sort(),
    files.map((file) => `${file}: @typescript-eslint/no-array-delete`).sort(),
  );
});

test("pages are followed through imports, scripts of documents and names in package.json", async (t) => {
  const project = {
    "src/App.tsx":
      'import "./styles.css";\nimport logo from "./logo.svg?url";\nexport { run } from "../ui/a.mjs";\nexport const App = () => <p>{logo}</p>;\n',
    "src/styles.css": "p { color: red }\n",
    "src/vite-env.d.ts": 'declare module "*.svg?url" { const name: string; export default name; }\n',
    "ui/a.mts": DELETING,
    "index.html": "<script type='module' src=/web/main.ts></script>",
    "web/main.ts": DELETING,
    "web/unused.ts": DELETING,
  };
  assert.deepEqual(
    (await found(t, project)).sort(),
    ["ui/a.mts", "web/main.ts"].map((file) => `${file}: @typescript-eslint/no-array-delete`),
  );
});

test("an import must be for TypeScript what it is in the bundle", async (t) => {
  const uses = { "convex/uses.ts": 'import { run } from "../lib/run.js";\nexport const used: string = run();\n' };
  const right = 'export const run = () => "text";\n';
  assert.deepEqual(await found(t, { ...uses, "lib/run.ts": right }), []);
  assert.deepEqual(await found(t, { ...uses, "lib/run.js": right }), []);
  assert.deepEqual(await found(t, { ...uses, "lib/run.js": right, "lib/run.ts": right }), [
    "convex/uses.ts: unchecked",
  ]);
  assert.deepEqual(
    await found(t, { ...uses, "lib/run.js": right, "lib/run.d.ts": "export function run(): string;\n" }),
    ["convex/uses.ts: unchecked"],
  );
});

test("a declaration file that runs is not checked, and may not", async (t) => {
  const code = "export const run = (): string => (1).length;\n";
  for (const name of ["run.d", "run.d.more", "run.d.js"]) {
    const uses = { "convex/uses.ts": `import { run } from "../lib/${name}";\nexport const used: string = run();\n` };
    assert.deepEqual(await found(t, { ...uses, [`lib/${name}.ts`]: code }), [`lib/${name}.ts: unchecked`], name);
  }
});

test("comments that hide errors are found in any spelling that the compiler knows", async (t) => {
  const wrong = 'export const a: number = "text";\n';
  const ban = "@typescript-eslint/ban-ts-comment";
  assert.deepEqual(await found(t, { "convex/a.ts": `// @TS-NOCHECK\n${wrong}` }), [
    "convex/a.ts: unchecked",
    "convex/a.ts: TS2322",
  ]);
  for (const comment of [
    "// @ts-ignore",
    "/// @ts-ignore",
    "/* @ts-ignore */",
    "/*\n * some\n * @ts-ignore */",
    "/* // @ts-ignore */",
  ]) {
    const problems = await found(t, { "convex/a.ts": `${comment}\n${wrong}` });
    assert.ok(
      problems.length > 0 && problems.every((each) => [`convex/a.ts: ${ban}`, "convex/a.ts: TS2322"].includes(each)),
      comment,
    );
  }
});

test("a folder that is called generated, and that Convex does not write, is refused", async (t) => {
  for (const folder of [
    "convex/deep/_generated",
    "_generated",
    "convex/_generated/_generated/_generated",
    "lib/_generated",
  ]) {
    const files = { [`${folder}/a.ts`]: FLOATING };
    if (folder.startsWith("convex/_generated")) assert.deepEqual(await found(t, files), [], "it was discarded");
    else {
      await assert.rejects(found(t, files), {
        name: "DeployError",
        message: new RegExp(`^${folder}: Convex writes no generated code there`),
      });
    }
  }
});

test("code without a file is refused, as no step can check it", async (t) => {
  await assert.rejects(
    found(t, {
      "convex/a.ts": 'import a from "data:text/javascript,export default 1";\nexport const b: unknown = a;\n',
    }),
  );
  const page =
    'import a from "data:text/javascript,export default 1//_generated/api.js";\nexport const b: unknown = a;\n';
  const declared = 'declare module "data:*" { const a: unknown; export default a; }\n';
  const problems = await found(t, { "src/App.ts": page, "src/urls.d.ts": declared });
  assert.equal(problems.length, 1);
  assert.match(problems[0]!, /^<data:text\/javascript.*>: unchecked$/);
});

test("a project's own file is checked, however it is named", async (t) => {
  for (const folder of ["async-hooks-shim:x", "(disabled):x", "server-only-stub:x"]) {
    const files = {
      "convex/uses.ts": `export { size } from "../${folder}/size.js";\n`,
      [`${folder}/size.js`]: "export const size = () => (1).length;\n",
    };
    assert.deepEqual(await found(t, files), [`${folder}/size.js: TS2339`]);
  }
});

test("what a page imports is checked beside files that cannot be bundled", async (t) => {
  const page = {
    "src/App.ts": 'export { size } from "../ui/size.js";\n',
    "ui/size.js": "export const size = () => (1).length;\n",
  };
  const broken = 'declare function require(name: string): unknown;\nexport const a = require("./a.json");\n';
  assert.deepEqual(await found(t, { ...page, "src/other.ts": broken, "src/a.json": "{" }), ["ui/size.js: TS2339"]);
  assert.deepEqual(await found(t, { ...page, "src/a.ts": "export {};\n", "src/a.js": "export {};\n" }), [
    "ui/size.js: TS2339",
  ]);
  assert.deepEqual(await found(t, { ...page, "src/other.ts": "export const = 1;\n" }), [
    "<src/other.ts, which cannot be bundled>: unchecked",
    "src/other.ts: TS1134",
    "src/other.ts: TS1134",
    "ui/size.js: TS2339",
    "src/other.ts: syntax",
  ]);
});

test("pictures and styles that a page imports are not code", async (t) => {
  const types = 'declare module "*.svg" { const url: string; export default url; }\n';
  const page = 'import logo from "./logo.svg";\nimport "./page.css";\nexport const App = (): string => logo;\n';
  assert.deepEqual(
    await found(t, {
      "src/App.ts": page,
      "src/types.d.ts": types,
      "src/logo.svg": "<svg/>",
      "src/page.css": "p { color: red }",
    }),
    [],
  );
});

test("no file of a project passes for the standard library", async (t) => {
  const library =
    '/// <reference no-default-lib="true"/>\n/// <reference lib="esnext"/>\nexport const wrong: number = "text";\n';
  const settings = {
    compilerOptions: {
      target: "ESNext",
      module: "ESNext",
      moduleResolution: "Bundler",
      skipDefaultLibCheck: true,
      skipLibCheck: true,
      strict: true,
    },
  };
  assert.deepEqual(await found(t, { "convex/library.ts": library, "convex/tsconfig.json": JSON.stringify(settings) }), [
    "convex/library.ts: TS2322",
  ]);
});

const BAD = 'export function harmless() { return "text".missing(); }\n';
const DECLARED = "export function harmless(): string;\n";
const GOOD = 'export const harmless = (): string => "text";\n';
const using = (specifier: string): string =>
  `import { harmless } from "${specifier}";\nexport const used: string = harmless();\n`;

const ELSEWHERE: Record<string, Record<string, string>> = {
  "a file without a suffix": { "src/App.ts": using("./bad"), "src/bad": BAD, "src/bad.d.ts": DECLARED },
  "a nested package.json with another main file for programs": {
    "src/run.ts": using("../lib"),
    "lib/good.ts": GOOD,
    "lib/bad.js": BAD,
    "lib/package.json": JSON.stringify({ module: "./good.ts", main: "./bad.js", types: "./good.ts" }),
  },
  "a nested package.json with another file for pages": {
    "src/App.ts": "export default 1;\n",
    "other/App.js": BAD,
    "src/package.json": JSON.stringify({ browser: { "./App.ts": "../other/App.js" } }),
  },
  "patterns of imports for programs": {
    "src/run.ts": using("#x/word"),
    "src/good/word.ts": GOOD,
    "src/hidden/word.js": BAD,
    "src/package.json": JSON.stringify({ imports: { "#x/*": { node: "./hidden/*.js", default: "./good/*.ts" } } }),
  },
  "what is left out of pages by NODE_ENV": {
    "src/run.ts":
      'declare const process: { env: Record<string, string> };\nif (process.env.NODE_ENV !== "development") void import("../lib/bad.js");\nexport {};\n',
    "lib/bad.js": BAD,
    "lib/bad.d.ts": DECLARED,
  },
  "what a sloppy script requires": {
    "src/App.ts": 'import "./broken.js";\n',
    "src/broken.js": 'with ({}) { }\nrequire("../lib/bad.js").harmless();\n',
    "lib/bad.js": BAD,
    "lib/bad.d.ts": DECLARED,
  },
  "what a test imports": { "convex/a.test.ts": using("../lib/bad.mjs"), "lib/bad.mjs": BAD, "lib/bad.d.mts": DECLARED },
  "what the settings of tests name": {
    "vitest.config.ts": 'export default { test: { setupFiles: ["./more/set_up.js"] } };\n',
    "more/set_up.js": BAD,
  },
};

for (const [what, files] of Object.entries(ELSEWHERE)) {
  test(`it is found: ${what}`, async (t) => assert.notDeepEqual(await found(t, files), []));
}

const MAKING_CODE = [
  'eval("1");',
  '(0, eval)("1");',
  'globalThis.eval("1");',
  'globalThis["eval"]("1");',
  'const e = eval; e("1");',
  'window.eval("1");',
  '({ eval }).eval("1");',
  'export const is = {} instanceof (eval("Object") as typeof Object);',
  'new Function("return 1")();',
  'Function("return 1")();',
  'globalThis.Function("return 1")();',
  "export class Made extends Function {}",
  'const name: string = ["data:text/javascript", "1"].join(); void import(name);',
  "declare function require(name: string): unknown; const name: string = String(1); require(name);",
];

test("code of texts and imports of what is computed are found", async (t) => {
  for (const code of MAKING_CODE) {
    assert.ok((await found(t, { "src/run.ts": `${code}\nexport {};\n` })).includes("src/run.ts: unchecked"), code);
  }
});

test("what only has such a name is not code of a text", async (t) => {
  const right = [
    'const tool = { eval: (text: string) => text };\nexport const said = tool.eval("1");',
    "export const is = (value: unknown): value is Function => value instanceof Function;",
    "export type Any = Function | typeof eval;",
    'export const load = () => import("./other");',
    "const require = undefined;\nexport { require };",
  ];
  for (const code of right) {
    assert.deepEqual(await found(t, { "src/run.ts": `${code}\n`, "src/other.ts": "export const a = 1;\n" }), [], code);
  }
});
