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

const HIDDEN = `
  export default function App() {
    return <main>
      <style>{".gone { display: none } .unseen { visibility: hidden } .clear { opacity: 0 }"}</style>
      <p>seen</p>
      <p hidden>1</p><div hidden><p>2</p></div><p style={{ display: "none" }}>3</p><div className="gone"><p>4</p></div>
      <p style={{ visibility: "hidden" }}>5</p><div className="unseen"><p>6</p><p style={{ visibility: "visible" }}>seen in what is not</p></div>
      <div className="clear"><p>7</p></div><dialog><p>8</p></dialog><dialog open><p>seen in a dialog</p></dialog>
      <details><summary><p>seen in a summary</p></summary><p>9</p></details><details open><p>seen in details</p></details>
      <p hidden style={{ display: "block" }}>seen in spite of hidden</p>
      <p aria-hidden="true">seen, <span hidden>not </span>read aloud</p>
      <input type="hidden" value="10" /><input type="text" defaultValue="shown" />
    </main>;
  }`;

test("hidden elements are left out", async () => {
  const page = await openPage({ app: write("Hidden.tsx", HIDDEN), backend: UNREACHABLE });
  const shown = [
    "seen",
    "seen in what is not",
    "seen in a dialog",
    "seen in a summary",
    "seen in details",
    "seen in spite of hidden",
    "seen, read aloud",
  ];
  await eventually(async () => assert.deepEqual(await page.texts("p"), shown));
  assert.equal(await page.text(), shown.join(""));
  assert.deepEqual(await page.values("input"), ["shown"]);
  await assert.rejects(page.fill("[type=hidden]", "x"), /The element `\[type=hidden\]` must be visible/);
  await assert.rejects(page.values("main"), /The element <main> must be a field with a value/);
});

const CLOSED = `
  import { useState } from "react";
  export default function App() {
    const [clicks, setClicks] = useState(0);
    return <main onInput={() => setClicks(clicks + 1)} onClick={() => setClicks(clicks + 1)}>
      <output>{clicks}</output>
      <input id="readonly" readOnly value="a" /><textarea id="disabled" disabled value="b" onChange={() => {}} />
      <fieldset disabled>
        <legend><input id="legend" defaultValue="c" /></legend>
        <input id="fieldset" defaultValue="d" /><button id="inner">e</button>
      </fieldset>
      <div inert><input id="inert" defaultValue="f" /><button id="asleep">g</button></div>
      <button id="through" style={{ pointerEvents: "none" }}>h</button>
    </main>;
  }`;

test("fields that cannot be edited are not filled, and elements that clicks do not reach are not clicked", async () => {
  const page = await openPage({ app: write("Closed.tsx", CLOSED), backend: UNREACHABLE });
  await eventually(async () => assert.deepEqual(await page.texts("output"), ["0"]));
  await assert.rejects(page.fill("#readonly", "x"), /The field `#readonly` must not be read-only/);
  await assert.rejects(page.fill("#disabled", "x"), /The field `#disabled` must not be disabled/);
  await assert.rejects(page.fill("#fieldset", "x"), /The field `#fieldset` must not be disabled/);
  await assert.rejects(page.fill("#inert", "x"), /The field `#inert` must not be inert/);
  await assert.rejects(page.click("#asleep"), /The element `#asleep` must react to clicks/);
  await assert.rejects(page.click("#through"), /The element `#through` must react to clicks/);
  assert.deepEqual(await page.states("button"), ["disabled", "enabled", "enabled"]);
  assert.deepEqual(await page.texts("output"), ["0"]);
  await page.fill("#legend", "typed");
  await eventually(async () => assert.deepEqual(await page.texts("output"), ["1"]));
  assert.deepEqual(await page.values("input"), ["a", "typed", "d", "f"]);
});

const LYING = `
  const { querySelectorAll } = Document.prototype;
  document.querySelectorAll = Document.prototype.querySelectorAll = function (this: Document, selector: string) {
    return [...querySelectorAll.call(this, selector)].reverse();
  } as never;
  const lies = { get: () => "lie" };
  Object.defineProperty(Node.prototype, "textContent", lies);
  Object.defineProperty(CharacterData.prototype, "data", { ...lies, set() {} });
  Object.defineProperty(HTMLInputElement.prototype, "value", { ...lies, set() {} });
  window.getComputedStyle = () => ({ getPropertyValue: () => "" }) as never;
  export default () => <main><p>1</p><p>2</p><p hidden>3</p><p style={{ display: "none" }}>4</p><input id="a" disabled /></main>;`;

test("functions that an app puts in the place of the page's own are not asked", async () => {
  const page = await openPage({ app: write("Lying.tsx", LYING), backend: UNREACHABLE });
  await eventually(async () => assert.deepEqual(await page.texts("p"), ["1", "2"]));
  assert.deepEqual(await page.states("input"), ["disabled"]);
  assert.deepEqual(await page.values("input"), [""]);
});
