import assert from "node:assert/strict";
import { test } from "node:test";
import { found } from "./test/projects.ts";

const OPTIONS = { target: "ESNext", module: "ESNext", moduleResolution: "Bundler", jsx: "react-jsx", strict: true };

function settings(options: object): string {
  return JSON.stringify({ compilerOptions: options });
}

const JSX = `declare global { namespace JSX { interface Element { readonly none: never } interface IntrinsicElements { go: object } } }
export const act = (...parts: unknown[]): unknown => parts;
export const shown = <go />;
`;
const FIELDS = "export class Counter { count: number | undefined; }\n";
const PLAIN = "export const one = 1;\n";
const USES = 'export { } from "./parts/part";\nexport * from "./parts/part";\n';

/** By option: what a nested tsconfig.json says, and the file that becomes something else by it. */
const OTHERWISE: Record<string, [options: object, file: string, code: string]> = {
  jsx: [{ jsx: "react" }, "part.tsx", JSX],
  jsxFactory: [{ jsx: "react", jsxFactory: "act" }, "part.tsx", JSX],
  jsxImportSource: [{ jsx: "react-jsx", jsxImportSource: "#ui" }, "part.tsx", JSX],
  useDefineForClassFields: [{ useDefineForClassFields: false }, "part.ts", FIELDS],
  "useDefineForClassFields, by target": [{ target: "ES2020" }, "part.ts", FIELDS],
};

const RUNTIME = {
  "package.json": JSON.stringify({
    name: "app",
    dependencies: { convex: "*" },
    imports: { "#ui/jsx-runtime": "./convex/runtime.ts" },
  }),
  "convex/runtime.ts": "export const jsx = (...parts: unknown[]): unknown => parts;\n",
};

async function unchecked(t: Parameters<typeof found>[0], files: Record<string, string>): Promise<string[]> {
  const all = await found(t, {
    ...RUNTIME,
    "convex/tsconfig.json": settings(OPTIONS),
    "convex/uses.ts": USES,
    ...files,
  });
  return all.filter((each) => each.endsWith(": unchecked"));
}

for (const [option, [options, name, code]] of Object.entries(OTHERWISE)) {
  test(`a file that other settings apply to where it runs is not what was checked: ${option}`, async (t) => {
    const file = `convex/parts/${name}`;
    const nested = { "convex/parts/tsconfig.json": settings(options) };
    const expected = option === "jsxFactory" ? [`${file}: unchecked`, `${file}: unchecked`] : [`${file}: unchecked`];
    assert.deepEqual(await unchecked(t, { ...nested, [file]: code }), expected);
    assert.deepEqual(await unchecked(t, { ...nested, "convex/parts/part.ts": PLAIN }), []);
    assert.deepEqual(await unchecked(t, { [file]: code }), []);
  });
}

test("settings for JavaScript apply to TypeScript, too", async (t) => {
  const nested = { "convex/parts/jsconfig.json": settings({ useDefineForClassFields: false }) };
  assert.deepEqual(await unchecked(t, { ...nested, "convex/parts/part.ts": FIELDS }), [
    "convex/parts/part.ts: unchecked",
  ]);
});

test("settings that come to the same are no others", async (t) => {
  const nested = settings({ ...OPTIONS, target: "ES2022", jsxFragmentFactory: "React.Fragment", noUnusedLocals: true });
  assert.deepEqual(
    await unchecked(t, { "convex/parts/tsconfig.json": nested, "convex/parts/part.tsx": JSX + FIELDS }),
    [],
  );
});

test("files beside the functions run by the settings of the root", async (t) => {
  const files = {
    "convex/uses.ts": 'export * from "../shared/part";\n',
    "shared/part.ts": FIELDS,
    "src/one.ts": PLAIN,
  };
  const root = (target: string, include: string[]): object => ({
    "tsconfig.json": JSON.stringify({ compilerOptions: { ...OPTIONS, target }, include }),
  });
  assert.deepEqual(await unchecked(t, { ...files, ...root("ESNext", ["src"]) }), []);
  assert.deepEqual(await unchecked(t, { ...files, ...root("ES2020", ["src", "shared"]) }), []);
  assert.deepEqual(await unchecked(t, { ...files, ...root("ES2020", ["src"]) }), ["shared/part.ts: unchecked"]);
});
