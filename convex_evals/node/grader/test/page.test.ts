import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { closeAll } from "../closing.ts";
import { eventually } from "../eventually.ts";
import { openPage, UNREACHABLE } from "../page.ts";

const project = mkdtempSync(join(tmpdir(), "page-test-"));

const COUNTER = `
  import { useState } from "react";
  export default function App() {
    const [count, setCount] = useState(0);
    const [name, setName] = useState("");
    return <form onSubmit={(event) => { event.preventDefault(); setCount(count + 1); }}>
      <p>Count:   {count}</p>
      <input aria-label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <button disabled={name === ""}>Add for {name}</button>
      <i>one</i><i>two</i>
    </form>;
  }`;

function write(file: string, source: string): string {
  writeFileSync(join(project, "src", file), source);
  return `src/${file}`;
}

before(() => {
  process.env["MODEL_OUTPUT_DIR"] = project;
  mkdirSync(join(project, "src"));
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(project, "node_modules"));
});

after(async () => {
  await closeAll();
  rmSync(project, { recursive: true });
});

test("a person at the screen can read, type and click", async () => {
  const page = await openPage({ app: write("Counter.tsx", COUNTER), backend: UNREACHABLE });
  await eventually(async () => assert.deepEqual(await page.texts("p"), ["Count: 0"]));
  assert.deepEqual(await page.texts("i"), ["one", "two"]);
  assert.deepEqual(await page.states("button"), ["disabled"]);
  await page.click("button");
  await page.fill("[aria-label=Name]", "Ada");
  await eventually(async () => assert.deepEqual(await page.states("button"), ["enabled"]));
  assert.deepEqual(await page.values("input"), ["Ada"]);
  assert.deepEqual(await page.texts("button"), ["Add for Ada"]);
  await page.click("button");
  await eventually(async () => assert.match(await page.text(), /Count: 1/));
  assert.deepEqual(await page.errors(), []);
  await assert.rejects(page.click("i"), /must have one element `i`, not 2/);
  await assert.rejects(page.fill("textarea", "x"), /must have an element `textarea`/);
  await assert.rejects(page.fill("p", "x"), /must be a field with a value/);
});

test("an app that throws leaves an empty page and its error", async () => {
  const source = 'export default function App(): never { throw new Error("no list"); }';
  const page = await openPage({ app: write("Throws.tsx", source), backend: UNREACHABLE });
  await eventually(async () => assert.match((await page.errors()).join(), /no list/));
  assert.equal(await page.text(), "");
});

test("an app without a default export, or that cannot be bundled, is told so", async () => {
  const page = await openPage({
    app: write("Named.tsx", "export function App() { return null; }"),
    backend: UNREACHABLE,
  });
  assert.match((await page.errors()).join(), /`src\/Named\.tsx` must export the app's component as its default/);
  const broken = openPage({ app: write("Broken.tsx", 'import "left-pad-of-nowhere";'), backend: UNREACHABLE });
  await assert.rejects(broken, /`src\/Broken\.tsx` must be a module that can be bundled[\s\S]*left-pad-of-nowhere/);
});

test("the app sees nothing of the grader's environment", async () => {
  // What a hostile app would do: leave its window through an object of the process that shows the page.
  const source = `export default function App() {
    const outside = window.console.log.constructor("return process")() as { env: Record<string, string> };
    return <p>Seen: {Object.keys(outside.env).join()}</p>;
  }`;
  const page = await openPage({ app: write("Spy.tsx", source), backend: UNREACHABLE });
  await eventually(async () => assert.deepEqual(await page.texts("p"), ["Seen:"]));
});

test("commands to a page that is closed are refused", async () => {
  const page = await openPage({ app: write("Closed.tsx", "export default () => null;"), backend: UNREACHABLE });
  page.close();
  await eventually(() =>
    page.text().then(
      () => false,
      (error: Error) => /process ended/.test(error.message),
    ),
  );
});

test("styles and pictures are nothing that a page shows, and no reason to fail", async () => {
  write("look.module.css", ".big { font-size: 40px }");
  write("logo.svg", "<svg/>");
  const source =
    'import look from "./look.module.css"; import logo from "./logo.svg"; export default () => <p className={look.big} title={typeof logo}>Hi</p>;';
  const page = await openPage({ app: write("Styled.tsx", source), backend: UNREACHABLE });
  await eventually(async () => assert.deepEqual(await page.texts("p"), ["Hi"]));
  assert.deepEqual(await page.errors(), []);
});
