import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  eventually,
  expectSameFunctions,
  expectSameSchema,
  listTable,
  openLine,
  openPage,
  type Line,
  type Page,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const DETAILS = 'section[aria-label="Details"]';
const CLOSE = `${DETAILS} button`;
const SOON = { timeoutMs: 1500 };

const NONE = "Choose a project";
const LOADING = "Loading...";
const GONE = "This project does not exist any more";

interface App {
  page: Page;
  line: Line;
}

interface Project {
  name: string;
  summary: string;
}

const BRIDGE = { name: "Bridge", summary: "Over the river" };
const TOWER = { name: "Tower", summary: "Up to the clouds" };

let app: Promise<App> | undefined;

beforeEach(() => clearTables("projects"));

/** The app, opened once for all tests: an app that does not open is not waited for again. */
function openApp(): Promise<App> {
  app ??= openLine().then(async (line) => {
    await addDocuments("projects", [{ name: "First", summary: "To see that the app runs" }]);
    const page = await openPage({ backend: line.url });
    const parts = async () => {
      expect(await page.texts("ul"), "the page must have one `<ul>`, with the only project's name").toEqual(["First"]);
      expect(await page.texts(DETAILS), `the page must have one element \`${DETAILS}\``).toHaveLength(1);
    };
    await eventually(parts, { what: "the two parts of the page, of which the first lists a project" }).catch(async (error: unknown) => {
      const reported = (await page.errors()).join("; ") || "nothing";
      throw new Error(`${error instanceof Error ? error.message : String(error)}. The app reported: ${reported}`);
    });
    await clearTables("projects");
    return { page, line };
  });
  return app;
}

/** The app with these projects, of which none is chosen. Returns their ids, too. */
async function openProjects(...projects: Project[]): Promise<App & { ids: Id<"projects">[] }> {
  const { page, line } = await openApp();
  line.release();
  await addDocuments("projects", projects.map(({ name, summary }) => ({ name, summary })));
  if ((await page.texts(CLOSE)).length > 0) await page.click(CLOSE);
  await lists(page, projects.map(({ name }) => name), "the names of all projects in the list");
  await says(page, NONE, "when no project is chosen");
  return { page, line, ids: (await listTable("projects")).map(({ _id }) => _id as Id<"projects">) };
}

async function lists(page: Page, names: string[], what: string): Promise<void> {
  const check = async () => {
    expect(await page.texts("ul > li"), "the items of the list").toEqual(names);
    expect(await page.texts("ul > li > button"), "each `<li>` must contain nothing but one button with the project's name").toEqual(names);
  };
  await eventually(check, { ...SOON, what });
}

async function choose(page: Page, position: number): Promise<void> {
  await page.click(`ul > li:nth-child(${position}) > button`);
}

/** The section says nothing but `text`; only where a project is chosen it has the button to close it. */
async function says(page: Page, text: string, when: string): Promise<void> {
  const check = async () => {
    const [[section = ""], headings, buttons] = await Promise.all([page.texts(DETAILS), page.texts(`${DETAILS} h2`), page.texts(CLOSE)]);
    for (const other of [NONE, LOADING, GONE]) {
      const rule = `the section must ${other === text ? "" : "not "}have the text "${other}" ${when}`;
      expect(section.includes(other), `${rule}; its text is "${section}"`).toBe(other === text);
    }
    expect(headings, `there must be no \`<h2>\` in the section ${when}`).toEqual([]);
    for (const { name, summary } of [BRIDGE, TOWER]) {
      const rule = `nothing of a project may be shown in the section ${when}; its text is "${section}"`;
      expect(section.includes(name) || section.includes(summary), rule).toBe(false);
    }
    expect(buttons, `the buttons of the section ${when}`).toEqual(text === NONE ? [] : ["Close"]);
  };
  await eventually(check, { ...SOON, what: `the section to say "${text}" ${when}` });
}

async function details(page: Page, { name, summary }: Project, when: string): Promise<void> {
  const check = async () => {
    const [[section = ""], headings, paragraphs, buttons] = await Promise.all([
      page.texts(DETAILS),
      page.texts(`${DETAILS} h2`),
      page.texts(`${DETAILS} p`),
      page.texts(CLOSE),
    ]);
    expect(headings, `the section must have the project's name as its only \`<h2>\` ${when}`).toEqual([name]);
    expect(paragraphs, `the section must have the project's summary as a \`<p>\` ${when}`).toContain(summary);
    for (const other of [NONE, LOADING, GONE]) {
      expect(section.includes(other), `the section must not have the text "${other}" ${when}; its text is "${section}"`).toBe(false);
    }
    expect(buttons, `the buttons of the section ${when}`).toEqual(["Close"]);
  };
  await eventually(check, { ...SOON, what: `the details of "${name}" ${when}` });
}

test("the backend is the given one", async () => {
  await expectSameSchema();
  await expectSameFunctions();
  await addDocuments("projects", [BRIDGE, TOWER]);
  const client = anonymousClient();
  const [bridge, ...more] = await client.query(api.projects.names, {});
  expect([bridge, ...more], "`projects.names` must be as given: ids and names, the oldest project first").toEqual([BRIDGE, TOWER].map(({ name }) => ({ _id: expect.any(String), name })));
  const projectId = bridge!._id;
  await client.mutation(api.projects.edit, { projectId, summary: "Over the sea" });
  expect(await client.query(api.projects.get, { projectId }), "`projects.get` must be as given: the project").toMatchObject({ name: "Bridge", summary: "Over the sea" });
  await client.mutation(api.projects.remove, { projectId });
  expect(await client.query(api.projects.get, { projectId }), "`projects.get` must be as given: null for a project that does not exist any more").toBeNull();
});

test("at first no project is chosen", async () => {
  const { page } = await openProjects(BRIDGE, TOWER);
  await addDocuments("projects", [{ name: "Tunnel", summary: "Through the hill" }]);
  await lists(page, ["Bridge", "Tower", "Tunnel"], "a new project in the list");
  await says(page, NONE, "before a project is chosen");
});

test("a chosen project is loading until it arrives", async () => {
  const { page, line } = await openProjects(BRIDGE, TOWER);
  line.hold();
  await choose(page, 2);
  await says(page, LOADING, "until the chosen project has arrived");
  line.release();
  await details(page, TOWER, "when the chosen project has arrived");
});

test("when another project is chosen, nothing of the one before is shown", async () => {
  const { page, line } = await openProjects(BRIDGE, TOWER);
  await choose(page, 1);
  await details(page, BRIDGE, "when the first project is chosen");
  line.hold();
  await choose(page, 2);
  await says(page, LOADING, "until the other project has arrived");
  line.release();
  await details(page, TOWER, "when the other project has arrived");
  await choose(page, 1);
  await details(page, BRIDGE, "when the first project is chosen again");
});

test("changes of the chosen project appear", async () => {
  const { page, ids: [projectId] } = await openProjects(BRIDGE, TOWER);
  if (projectId === undefined) throw new Error("there must be a first project");
  await choose(page, 1);
  await details(page, BRIDGE, "when it is chosen");
  await adminClient().mutation(api.projects.edit, { projectId, summary: "Over the sea" });
  await details(page, { name: "Bridge", summary: "Over the sea" }, "after somebody has changed its summary");
});

test("a chosen project that is deleted is gone, and stays chosen until it is closed", async () => {
  const { page, ids: [projectId] } = await openProjects(BRIDGE, TOWER);
  if (projectId === undefined) throw new Error("there must be a first project");
  await choose(page, 1);
  await details(page, BRIDGE, "when it is chosen");
  await adminClient().mutation(api.projects.remove, { projectId });
  await lists(page, ["Tower"], "a deleted project to be gone from the list");
  await says(page, GONE, "when the chosen project was deleted");
  await page.click(CLOSE);
  await says(page, NONE, "after the section was closed");
  await choose(page, 1);
  await details(page, TOWER, "when a project is chosen after another one was deleted");
});

test("a project that was deleted before it was chosen is gone", async () => {
  const { page, line, ids: [projectId] } = await openProjects(BRIDGE, TOWER);
  if (projectId === undefined) throw new Error("there must be a first project");
  line.hold();
  await choose(page, 1);
  await says(page, LOADING, "until the chosen project has arrived");
  await adminClient().mutation(api.projects.remove, { projectId });
  line.release();
  await says(page, GONE, "when the chosen project was deleted before it arrived");
});

test("closing chooses no project again, also while one is loading", async () => {
  const { page, line } = await openProjects(BRIDGE, TOWER);
  await choose(page, 1);
  await details(page, BRIDGE, "when it is chosen");
  await page.click(CLOSE);
  await says(page, NONE, "after the section was closed");
  line.hold();
  await choose(page, 2);
  await says(page, LOADING, "until the chosen project has arrived");
  await page.click(CLOSE);
  await says(page, NONE, "after the section was closed while it was loading");
  line.release();
  await choose(page, 1);
  await details(page, BRIDGE, "when it is chosen after the section was closed");
});
