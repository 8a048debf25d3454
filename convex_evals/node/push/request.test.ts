import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { DeployError } from "./deploy_error.ts";
import { withoutHostPaths } from "./host_paths.ts";
import { buildPush, buildPushRequest } from "./request.ts";
import { APPS, copyApp, workFolder, type App } from "./test/work_folder.ts";

const run = promisify(execFile);
const convexManifest = createRequire(import.meta.url).resolve("convex/package.json");
const officialCommand = path.join(path.dirname(convexManifest), "bin", "main.js");

function makeApp(t: TestContext, app: App, files: Record<string, string> = {}): string {
  const project = copyApp(app, path.join(workFolder(t), "project"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  }
  return project;
}

for (const app of APPS) {
  test(`the request for ${app} is what the official command would send`, async (t) => {
    // What of another project is kept must make no difference.
    await buildPushRequest(makeApp(t, app));
    const project = makeApp(t, app);
    const file = path.join(path.dirname(project), "request");
    // With every module in the request the official command asks no server before it writes it down.
    const args = ["deploy", "--yes", "--typecheck", "disable", "--push-all-modules", "--write-push-request", file];
    await run(process.execPath, [officialCommand, ...args, "--url", "http://127.0.0.1:9", "--admin-key", "none"], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: path.dirname(project), CI: "1" },
    });
    const { adminKey: _, ...official } = JSON.parse(readFileSync(`${file}.json`, "utf8")) as Record<string, unknown>;
    const request = await buildPushRequest(project);
    const withoutScripts = JSON.stringify(request, (key, value: unknown) => (key === "script" ? undefined : value));
    assert.deepEqual(JSON.parse(withoutScripts), official);
    for (const { environment, script } of request.appDefinition.changedModules) {
      assert.equal(script !== undefined, environment === "isolate");
    }
  });
}

test("a component from a package is bundled alike for every project", async (t) => {
  const [first, second] = [makeApp(t, "npm_component"), makeApp(t, "npm_component")];
  const request = await buildPushRequest(first);
  assert.ok(request.componentDefinitions.some(({ functions }) => functions.length > 0));
  assert.deepEqual(await buildPushRequest(second), request);
  assert.deepEqual(await buildPushRequest(first), request);
});

test("where a project maps a package to a file of its own, that is bundled", async (t) => {
  await buildPushRequest(makeApp(t, "bare"));
  const settings = JSON.stringify({ compilerOptions: { paths: { "convex/server": ["./own.ts"] } } });
  const own =
    'export * from "../node_modules/convex/dist/esm/server/index.js"; export const defineApp = () => "my own";';
  const project = makeApp(t, "bare", { "convex/tsconfig.json": settings, "convex/own.ts": own });
  const { definition } = (await buildPushRequest(project)).appDefinition;
  assert.match(definition.source, /my own/);
});

test("modules of both environments, schema and components are in the request", async (t) => {
  const everything = await buildPushRequest(makeApp(t, "everything"));
  const modules = new Map(everything.appDefinition.changedModules.map((module) => [module.path, module.environment]));
  assert.equal(modules.get("digest.js"), "node");
  assert.equal(modules.get("http.js"), "isolate");
  assert.notEqual(everything.appDefinition.schema, null);
  const local = await buildPushRequest(makeApp(t, "local_component"));
  assert.deepEqual(
    local.componentDefinitions.map(({ definitionPath }) => definitionPath),
    ["counter"],
  );
});

test("what the official command refuses is refused in its words", async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ "convex/broken.ts": "export const a = ;\n" }, /convex\/broken\.ts:1:17/],
    [
      { "convex/lost.ts": 'import x from "./nowhere";\nexport const a = x;\n' },
      /Could not resolve "\.\/nowhere"[\s\S]*convex\/lost\.ts:1:14/,
    ],
    [
      { "convex/fs.ts": 'import fs from "node:fs";\nexport const a = fs;\n' },
      /from a file without the "use node" directive/,
    ],
    [{ "convex/http.ts": '"use node";\nexport default 1;\n' }, /"use node" directive is not allowed for http\.ts/],
    [{ "convex/actions/a.ts": "export const a = 1;\n" }, /has no "use node"; directive/],
    [{ "convex/_deps/a.ts": "export const a = 1;\n" }, /reserved for dependencies/],
    [{ "convex/convex.config.ts": "export default ;\n" }, /convex\/convex\.config\.ts:1:15/],
    [{ "convex.json": "{ nope" }, /Parsing "convex\.json" failed/],
    [{ "convex.json": '{ "functions": "../elsewhere" }' }, /must be a real folder inside the project/],
    [{ "package.json": "{ nope" }, /package\.json/],
    [{ "package.json": "{}" }, /add `convex` to your package\.json dependencies/],
    [
      { "convex/auth.config.ts": "export default {};\n", "convex/auth.config.js": "export default {};\n" },
      /choose one/,
    ],
  ];
  for (const [files, message] of cases) {
    const project = makeApp(t, "bare", files);
    await assert.rejects(buildPush(project), (error) => {
      assert.ok(error instanceof DeployError, String(error));
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /convex-evals-test/);
      return true;
    });
  }
});

test("packages lie at node_modules in every message, wherever they are", () => {
  const text =
    "at /home/x/.cache/tools/node_modules/a/node_modules/b.js, in ../../tools/node_modules/c and /srv/p/convex/d.ts";
  assert.equal(
    withoutHostPaths("/srv/p", text),
    "at node_modules/a/node_modules/b.js, in node_modules/c and convex/d.ts",
  );
});

test("a project without functions is an empty deployment", async (t) => {
  const project = makeApp(t, "bare");
  rmSync(path.join(project, "convex"), { recursive: true });
  assert.deepEqual((await buildPushRequest(project)).appDefinition.changedModules, []);
});

test("a project without package.json is refused", async (t) => {
  const project = makeApp(t, "bare");
  rmSync(path.join(project, "package.json"));
  await assert.rejects(buildPush(project), { name: "DeployError", message: /No package\.json/ });
});

test("code that the author put into _generated is never bundled", async (t) => {
  const forged = 'export const query = () => "forged";\nexport const api = "forged";\n';
  const project = makeApp(t, "bare", {
    "convex/_generated/server.js": forged,
    "convex/_generated/server.ts": forged,
    "convex/_generated/api.ts": forged,
    "convex/_generated/ai/notes.md": "left behind",
  });
  const request = await buildPushRequest(project);
  assert.doesNotMatch(JSON.stringify(request), /forged/);
  assert.deepEqual(readdirSync(path.join(project, "convex", "_generated")).sort(), [
    "api.d.ts",
    "api.js",
    "dataModel.d.ts",
    "server.d.ts",
    "server.js",
  ]);
});

test("nothing is written or read through links that leave the project", async (t) => {
  const outside = workFolder(t);
  writeFileSync(path.join(outside, "secret.json"), '{ "secret": "of the host" }');

  const linkedFolder = makeApp(t, "bare");
  renameSync(path.join(linkedFolder, "convex"), path.join(outside, "convex"));
  symlinkSync(path.join(outside, "convex"), path.join(linkedFolder, "convex"));
  await assert.rejects(buildPush(linkedFolder), { name: "DeployError", message: /real folder inside the project/ });

  const linkedGenerated = makeApp(t, "bare");
  symlinkSync(outside, path.join(linkedGenerated, "convex", "_generated"));
  await assert.rejects(buildPush(linkedGenerated), { name: "DeployError", message: /_generated is not a folder/ });

  const imports = makeApp(t, "bare", {
    "convex/leak.ts": `import secret from "${path.join(outside, "secret.json")}";\nexport const a = secret;\n`,
  });
  await assert.rejects(buildPush(imports), { name: "DeployError", message: /a file outside the project/ });

  // Messages of a failed build quote what they are about.
  writeFileSync(path.join(outside, "broken.json"), "of-the-host oops");
  const extending = makeApp(t, "bare", {
    "tsconfig.json": JSON.stringify({ extends: path.join(outside, "broken.json") }),
  });
  await assert.rejects(buildPush(extending), {
    name: "DeployError",
    message: /^(?!.*of-the).*a file outside the project/s,
  });

  const linkedSource = makeApp(t, "bare", { "convex/leak.ts": 'import a from "./a.json";\nexport const b = a;\n' });
  symlinkSync(path.join(outside, "secret.json"), path.join(linkedSource, "convex", "a.json"));
  await assert.rejects(buildPush(linkedSource), { name: "DeployError", message: /a file outside the project/ });

  assert.deepEqual(readdirSync(outside).sort(), ["broken.json", "convex", "secret.json"]);
  assert.deepEqual(readdirSync(path.join(outside, "convex")), ["messages.ts"]);
});

test("external packages of convex.json are left to the backend", async (t) => {
  const files = {
    "convex.json": '{ "node": { "externalPackages": ["ws"] } }',
    "package.json": '{ "dependencies": { "convex": "^1.48.0", "ws": "^8.0.0" } }',
    "convex/socket.ts": '"use node";\nimport { WebSocket } from "ws";\nexport const kind = typeof WebSocket;\n',
  };
  const request = await buildPushRequest(makeApp(t, "bare", files));
  assert.deepEqual(
    request.nodeDependencies.map(({ name }) => name),
    ["ws"],
  );
  const module = request.appDefinition.changedModules.find(({ path: name }) => name === "socket.js");
  assert.match(module?.source ?? "", /from "ws"/);
});

test("one project leaves no trace in the next, nor in the process", async (t) => {
  const before = process.cwd();
  const broken = makeApp(t, "bare", { "convex/broken.ts": "export const a = ;\n" });
  await assert.rejects(buildPush(broken), DeployError);
  const odd = await buildPush(makeApp(t, "bare", { "convex.json": '{ "unknown": 1 }' }));
  assert.match(odd.warnings.join("\n"), /Unknown property/);
  const good = await buildPush(makeApp(t, "bare"));
  assert.deepEqual(good.warnings, []);
  assert.equal(process.cwd(), before);
});

test("what a project leads an entry point to is refused, and is no other project's component", async (t) => {
  const package_ = "node_modules/@convex-dev/rate-limiter/dist/component";
  const led = (from: string, to: string): string => JSON.stringify({ compilerOptions: { paths: { [from]: [to] } } });
  const cases: [App, Record<string, string>, RegExp][] = [
    [
      "npm_component",
      { "tsconfig.json": led("*/rate-limiter/dist/component/lib.js", `./${package_}/time.js`) },
      /lib\.js, which is to be deployed/,
    ],
    [
      "schema",
      {
        "tsconfig.json": led("*/convex/schema.ts", "./convex/other.ts"),
        "convex/other.ts": 'import "./more.ts"; export default import("./schema.ts");',
        "convex/more.ts": "export {};",
      },
      /convex\/other\.ts in place of convex\/schema\.ts/,
    ],
  ];
  for (const [app, files, message] of cases) {
    await assert.rejects(buildPush(makeApp(t, app, files)), { name: "DeployError", message });
    await buildPush(makeApp(t, app));
  }
});
