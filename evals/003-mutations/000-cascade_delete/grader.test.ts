import {
  addDocuments,
  anonymousClient,
  clearTables,
  expectError,
  expectFunctions,
  expectSameSchema,
  listTable,
  type StoredDocument,
} from "convex-evals/grader";
import type { GenericDocument } from "convex/server";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();

/** Stores documents and returns them with their ids. */
async function stored(table: string, documents: GenericDocument[]): Promise<StoredDocument[]> {
  await addDocuments(table, documents);
  return (await listTable(table)).slice(-documents.length);
}

/** A project with `tasks` tasks, two comments on each of them, and one star. */
async function makeProject(name: string, tasks: number) {
  const [project] = await stored("projects", [{ name, taskCount: tasks }]);
  if (project === undefined) throw new Error("The table `projects` must hold what was stored in it");
  const titles = Array.from({ length: tasks }, (_, index) => ({ projectId: project._id, title: `${name} ${index}` }));
  const taskIds = (await stored("tasks", titles)).map((task) => task._id as Id<"tasks">);
  await addDocuments("comments", taskIds.flatMap((taskId) => ["first", "second"].map((text) => ({ taskId, text }))));
  await addDocuments("stars", [{ projectId: project._id, user: "Ada" }]);
  return { projectId: project._id as Id<"projects">, taskIds };
}

async function everything() {
  const [projects, tasks, comments, stars] = await Promise.all(["projects", "tasks", "comments", "stars"].map((table) => listTable(table)));
  return { projects, tasks, comments, stars };
}

beforeEach(() => clearTables("comments", "tasks", "stars", "projects"));

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("both functions are public mutations", async () => {
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({ "projects:remove": publicMutation, "projects:removeTask": publicMutation });
});

test("remove deletes the project with all that belongs to it", async () => {
  const { projectId } = await makeProject("Bridge", 3);
  const deleted = await visitor.mutation(api.projects.remove, { projectId });
  expect(await everything(), "after `remove` of the only project no document may be left").toEqual({
    projects: [],
    tasks: [],
    comments: [],
    stars: [],
  });
  expect(deleted, "`remove` must return the number of deleted documents: 1 project, 3 tasks, 6 comments and 1 star").toBe(11);
});

test("remove leaves other projects alone", async () => {
  await makeProject("Tower", 2);
  const others = await everything();
  const { projectId } = await makeProject("Bridge", 2);
  await visitor.mutation(api.projects.remove, { projectId });
  expect(await everything(), "`remove` must not touch the documents of other projects").toEqual(others);
});

test("remove of a project without tasks and stars deletes one document", async () => {
  const [project] = await stored("projects", [{ name: "Empty", taskCount: 0 }]);
  const deleted = await visitor.mutation(api.projects.remove, { projectId: project?._id as Id<"projects"> });
  expect(deleted, "`remove` of an empty project must return 1").toBe(1);
  expect(await listTable("projects"), "`remove` must delete an empty project").toEqual([]);
});

test("a second remove changes nothing and returns 0", async () => {
  const { projectId } = await makeProject("Bridge", 1);
  await makeProject("Tower", 1);
  await visitor.mutation(api.projects.remove, { projectId });
  const before = await everything();
  expect(await visitor.mutation(api.projects.remove, { projectId }), "`remove` of a project that is gone must return 0").toBe(0);
  expect(await everything(), "`remove` of a project that is gone must change nothing").toEqual(before);
});

test("removeTask deletes the task with its comments and lowers the count of its project", async () => {
  const { projectId, taskIds } = await makeProject("Bridge", 3);
  await makeProject("Tower", 1);
  const before = await everything();
  const [taskId] = taskIds;
  if (taskId === undefined) throw new Error("a project with three tasks must have a first one");
  expect(await visitor.mutation(api.projects.removeTask, { taskId }), "`removeTask` must return true").toBe(true);
  expect(await everything(), "`removeTask` must delete the task and its comments, lower `taskCount` by one, and change nothing else").toEqual({
    ...before,
    projects: before.projects?.map((project) => (project._id === projectId ? { ...project, taskCount: 2 } : project)),
    tasks: before.tasks?.filter((task) => task._id !== taskId),
    comments: before.comments?.filter((comment) => comment["taskId"] !== taskId),
  });
});

test("a second removeTask changes nothing and returns false", async () => {
  const { taskIds } = await makeProject("Bridge", 2);
  const [taskId] = taskIds;
  if (taskId === undefined) throw new Error("a project with two tasks must have a first one");
  await visitor.mutation(api.projects.removeTask, { taskId });
  const before = await everything();
  expect(await visitor.mutation(api.projects.removeTask, { taskId }), "`removeTask` of a task that is gone must return false").toBe(false);
  expect(await everything(), "`removeTask` of a task that is gone must change nothing").toEqual(before);
});

test("tasks that are removed at the same time are all counted", async () => {
  const { taskIds } = await makeProject("Bridge", 5);
  await Promise.all(taskIds.map((taskId) => visitor.mutation(api.projects.removeTask, { taskId })));
  const { projects, tasks } = await everything();
  expect(tasks, "all five tasks must be deleted").toEqual([]);
  expect(projects?.map(({ taskCount }) => taskCount as number), "`taskCount` must be 0 after five removals").toEqual([0]);
});

test("remove and removeTask delete hundreds of documents", async () => {
  const { projectId, taskIds } = await makeProject("Bridge", 105);
  const [first, second] = taskIds;
  const more = [first, second].flatMap((taskId) => Array.from({ length: 118 }, (_, index) => ({ taskId, text: `${index}` })));
  await addDocuments("comments", more);
  await addDocuments("stars", Array.from({ length: 119 }, (_, index) => ({ projectId, user: `${index}` })));
  await visitor.mutation(api.projects.removeTask, { taskId: first as Id<"tasks"> });
  const comments = await listTable("comments");
  expect(comments.length, "`removeTask` of a task with 120 comments must delete them all, and no others: 326 must be left").toBe(326);
  const deleted = await visitor.mutation(api.projects.remove, { projectId });
  expect(await everything(), "after `remove` of the only project, with hundreds of documents, none may be left").toEqual({
    projects: [],
    tasks: [],
    comments: [],
    stars: [],
  });
  expect(deleted, "`remove` must count all that it deletes: 1 project, 104 tasks, 326 comments and 120 stars").toBe(551);
});

test("ids of another table are refused", async () => {
  const { taskIds } = await makeProject("Bridge", 1);
  const projectId = taskIds[0] as unknown as Id<"projects">;
  await expectError(visitor.mutation(api.projects.remove, { projectId }), "`remove` with the id of a task must be refused", { by: "arguments" });
});

// The last test, as its documents take long to clear.
test("remove reads no documents of other projects", async () => {
  const other = await makeProject("Tower", 1);
  const { projectId } = await makeProject("Bridge", 10);
  const large = "x".repeat(1_000_000);
  // More than Convex lets one function read (16 MiB), so the server stops whoever reads them; comments would be read for each of the ten tasks.
  for (const count of [9, 8]) {
    await addDocuments("tasks", Array.from({ length: count }, () => ({ projectId: other.projectId, title: large })));
    await addDocuments("stars", Array.from({ length: count }, () => ({ projectId: other.projectId, user: large })));
  }
  await addDocuments("comments", other.taskIds.flatMap((taskId) => [{ taskId, text: large }, { taskId, text: large }]));
  const deleted = await visitor.mutation(api.projects.remove, { projectId }).catch((error: unknown) => {
    const seen = error instanceof Error ? error.message : String(error);
    const rule = "`remove` must read no stars, tasks and comments of other projects, as there are too many of them";
    throw new Error(`${rule}; the call failed: ${seen}`, { cause: error });
  });
  expect(deleted, "`remove` must delete 1 project, 10 tasks, 20 comments and 1 star, however many documents other projects have").toBe(32);
});
