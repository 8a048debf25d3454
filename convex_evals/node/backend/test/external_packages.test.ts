/** `node.externalPackages` of convex.json: packages that "use node" modules import instead of containing them. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { ConvexHttpClient } from "convex/browser";
import { buildPush, buildPushRequest } from "../../push/request.ts";
import { ADMIN_KEY } from "../versions.ts";
import { api, emptyBackend, errorOf, makePackages, makeProject, post, push, type Files } from "./harness.ts";

const manifest = (name: string, rest: object = {}): string => JSON.stringify({ name, version: "1.2.3", ...rest });

const PACKAGES: Files = {
  "modern/package.json": manifest("modern", {
    type: "module",
    exports: { ".": "./main.js", "./data": "./data.js" },
    dependencies: { deep: "*", missing: "*" },
  }),
  "modern/main.js":
    'import { readFileSync } from "node:fs"; import deep from "deep"; export const text = readFileSync(new URL("./text.txt", import.meta.url), "utf8"); export { deep }; export let calls = 0; export const call = () => ++calls;',
  "modern/data.js": 'export default ["data"];',
  "modern/text.txt": "from a file",
  "modern/node_modules/deep/package.json": manifest("deep", { version: "2.0.0", dependencies: { shallow: "*" } }),
  "modern/node_modules/deep/index.js": 'module.exports = "deep 2 and " + require("shallow");',
  "deep/package.json": manifest("deep"),
  "deep/index.js": 'module.exports = "deep 1";',
  "shallow/package.json": manifest("shallow"),
  "shallow/index.js": 'module.exports = "shallow";',
  "classic/package.json": manifest("classic"),
  "classic/index.js":
    'const name = "./computed" + ".cjs"; module.exports = { folder: require("path").basename(__dirname), computed: require(name), ...{ hidden: 1 } };',
  "classic/computed.cjs": "module.exports = 42;",
  "unused/package.json": manifest("unused"),
  "unused/index.js": "module.exports = 0;",
};

const action = (name: string, body: string): string =>
  `export const ${name} = action({ args: {}, handler: async (): Promise<any> => ${body} });`;

const APP: Files = {
  "package.json": JSON.stringify({ dependencies: { convex: "*", modern: "^1", classic: "^1", deep: "*" } }),
  "convex.json": '{ "node": { "externalPackages": ["modern", "classic"] } }',
  "convex/n.ts": `"use node";
import { action } from "./_generated/server";
import { text, deep, call } from "modern";
import data from "modern/data";
import classic from "classic";
import ownDeep from "deep";
${action("imported", "[text, deep, data, ownDeep]")}
${action("common", "[classic.folder, classic.computed]")}
${action("counts", "call()")}
${action("later", '(await import("modern")).call()')}
${action("required", '(globalThis as any).require("classic").computed')}
${action("others", '(globalThis as any).require("unused")')}`,
  "convex/plain.ts":
    'import { query } from "./_generated/server"; import ownDeep from "deep"; export const bundled = query({ args: {}, handler: async () => ownDeep });',
};

async function deployed(
  t: TestContext,
  files: Files = APP,
  store = makePackages(t, PACKAGES),
): Promise<ConvexHttpClient> {
  const backend = await emptyBackend(t);
  const finished = await push(backend, makeProject(t, files, store));
  assert.equal(finished.status, 200, JSON.stringify(finished.body));
  return new ConvexHttpClient(backend.url, { logger: false });
}

test("packages are imported and required, with their dependencies and files", async (t) => {
  const http = await deployed(t);
  assert.deepEqual(await http.action(api.n.imported), ["from a file", "deep 2 and shallow", ["data"], "deep 1"]);
  assert.deepEqual(await http.action(api.n.common), ["classic", 42]);
  assert.deepEqual([await http.action(api.n.counts), await http.action(api.n.counts)], [1, 2]);
  assert.equal(await http.action(api.n.required), 42);
  assert.equal(await http.query(api.plain.bundled), "deep 1");
  assert.equal(await http.action(api.n.later), 3);
});

test("only what is external is there at run time", async (t) => {
  const http = await deployed(t);
  assert.match((await errorOf(() => http.action(api.n.others))).message, /Cannot find module 'unused'/);
});

test("a star makes all packages external except `convex`, and those that are not in package.json", async (t) => {
  const store = makePackages(t, PACKAGES);
  const files = {
    ...APP,
    "convex.json": '{ "node": { "externalPackages": ["*"] } }',
    "convex/other.ts":
      '"use node";\nimport unused from "unused";\nimport { v } from "convex/values";\nexport const x = [unused, v];',
  };
  const { request, sources } = await buildPush(makeProject(t, files, store));
  assert.deepEqual(request.nodeDependencies.map(({ name, version }) => `${name} ${version}`).sort(), [
    "classic 1.2.3",
    "deep 1.2.3",
    "modern 1.2.3",
  ]);
  assert.deepEqual(
    request.externalPackages?.files.map((file) => file.path),
    [
      ...["classic/computed.cjs", "classic/index.js", "classic/package.json", "deep/index.js", "deep/package.json"],
      ...["modern/data.js", "modern/main.js", "modern/package.json", "modern/text.txt"],
      ...["modern/node_modules/deep/index.js", "modern/node_modules/deep/package.json"],
      ...["shallow/index.js", "shallow/package.json"],
    ],
  );
  // The type check compares what is imported with what TypeScript takes it for.
  assert.deepEqual(sources.functions["convex/n.ts"]?.["modern/data"], ["node_modules/modern"]);
});

test("a package that another one imports is external too", async (t) => {
  const store = makePackages(t, {
    ...PACKAGES,
    "between/package.json": manifest("between"),
    "between/index.js": 'module.exports = require("classic").computed;',
  });
  const files = {
    "package.json": JSON.stringify({ dependencies: { convex: "*", between: "*", classic: "*" } }),
    "convex.json": '{ "node": { "externalPackages": ["classic"] } }',
    "convex/n.ts": `"use node";\nimport { action } from "./_generated/server";\nimport between from "between";\n${action("a", "between")}`,
  };
  const http = await deployed(t, files, store);
  assert.equal(await http.action(api.n.a), 42);
});

test("the files are those of the push", async (t) => {
  const store = makePackages(t, PACKAGES);
  const http = await deployed(t, APP, store);
  writeFileSync(path.join(store, "classic/computed.cjs"), "module.exports = 43;");
  assert.deepEqual(await http.action(api.n.common), ["classic", 42]);
});

test("packages of older pushes are removed", async (t) => {
  const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("convex-packages-"));
  const before = folders();
  const backend = await emptyBackend(t);
  const store = makePackages(t, PACKAGES);
  for (let round = 0; round < 2; round += 1) await push(backend, makeProject(t, APP, store));
  assert.equal(folders().length - before.length, 1);
  await backend.close();
  assert.deepEqual(folders(), before);
});

test("a push that brings no packages, or such as leave their folder, is refused", async (t) => {
  const backend = await emptyBackend(t);
  const request = await buildPushRequest(makeProject(t, APP, makePackages(t, PACKAGES)));
  const start = async (body: object): Promise<string> => {
    const { status, body: answer } = await post(`${backend.url}/api/deploy2/start_push`, {
      ...body,
      adminKey: ADMIN_KEY,
    });
    return `${status} ${String(answer["code"])} ${String(answer["message"])}`;
  };
  const { externalPackages, ...without } = request;
  assert.match(await start(without), /^400 InvalidExternalModules .*installs no packages/s);
  for (const name of ["../escaped", "a/../../escaped", "/tmp/escaped"]) {
    const files = [{ path: name, size: 1, executable: false }];
    assert.match(
      await start({ ...request, externalPackages: { ...externalPackages, files } }),
      /is no path of a package/,
    );
  }
  assert.equal(existsSync(path.join(tmpdir(), "escaped")), false);
});

test("what Convex refuses", async (t) => {
  const refused = async (packages: Files, pattern: RegExp): Promise<void> => {
    const project = makeProject(t, APP, makePackages(t, { ...PACKAGES, ...packages }));
    await assert.rejects(buildPush(project), { name: "DeployError", message: pattern });
  };
  await refused(
    { "modern/package.json": JSON.stringify({ name: "modern", exports: "./main.js" }) },
    /misses a 'version' field/,
  );
  await refused(
    { "modern/package.json": manifest("modern", { exports: "./main.js", peerDependencies: { a: 1 } }) },
    /version has type number/,
  );
});
