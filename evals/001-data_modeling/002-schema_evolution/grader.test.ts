import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  eventually,
  expectError,
  expectFunctions,
  expectNotCallable,
  listTable,
  ownFields,
  type StoredDocument,
} from "convex-evals/grader";
import { makeFunctionReference, type GenericDocument } from "convex/server";
import { beforeEach, expect, test } from "vitest";
import { api, internal } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const admin = adminClient();
const HUGE = "x".repeat(900_000);

/** All that the project itself scheduled has ended by then; what a component of it scheduled may take a moment more. */
const SOON = { timeoutMs: 1500 };

const old = { name: "Ada", office: "Oslo", phone: "111" };
const current = { name: "Grace", office: "Oslo", phones: [{ label: "work", number: "222" }], remote: true };

const listById = makeFunctionReference<"query", { ids: { id: string; tableName: string }[] }, StoredDocument[]>("_system/frontend/listById");

/** Stores one employee and returns it as it is stored. */
async function stored(employee: GenericDocument): Promise<StoredDocument & { _id: Id<"employees"> }> {
  await addDocuments("employees", [employee]);
  const newest = (await listTable<StoredDocument & { _id: Id<"employees"> }>("employees", { limit: 1 })).at(-1);
  if (newest === undefined) throw new Error("The table `employees` must hold what was stored in it");
  return newest;
}

/** Runs the migration, and waits until everything that it scheduled has ended. */
async function migrate(): Promise<void> {
  await admin.mutation(internal.migrations.run, {});
  await eventually(
    async () => {
      const states = (await listTable("_scheduled_functions")).map((job) => (job["state"] as { kind: string }).kind);
      return states.every((kind) => kind !== "pending" && kind !== "inProgress");
    },
    { what: "the end of the migration, all transactions that it scheduled included", timeoutMs: 20_000 },
  );
}

/** What an employee in the old shape becomes. */
function migrated({ phone, ...rest }: StoredDocument): GenericDocument {
  return { ...rest, phones: phone === "" ? [] : [{ label: "mobile", number: phone as string }], remote: false };
}

beforeEach(() => clearTables("employees"));

test("the table accepts both shapes, and nothing that neither has", async () => {
  const { phone: _, ...withoutPhone } = old;
  const good = [old, { ...old, phone: "" }, { ...old, photo: "x" }, current, { ...current, phones: [], remote: false, photo: "x" }];
  for (const label of ["mobile", "home", "work"]) good.push({ ...withoutPhone, phones: [{ label, number: "1" }], remote: false });
  for (const employee of good) {
    await clearTables("employees");
    expect(ownFields(await stored(employee)), "the employee must be stored as it was written").toEqual(employee);
  }
  const bad: [GenericDocument, string][] = [
    [{ ...old, nickname: "A" }, "a field that neither shape has"],
    [{ ...old, phone: 111 }, "a number as `phone`"],
    [{ ...current, remote: "yes" }, "a string as `remote`"],
    [{ ...current, phones: ["222"] }, "plain strings in `phones`"],
    [{ ...current, phones: [{ label: "fax", number: "1" }] }, "an unknown `label`"],
    [{ phone: "111", office: "Oslo" }, "an employee without `name`"],
  ];
  for (const [employee, rule] of bad) await expectError(addDocuments("employees", [employee]), `The table \`employees\` must refuse ${rule}`);
});

test("the functions are of the kinds of the task", async () => {
  await expectFunctions({
    "employees:get": { type: "query", visibility: "public" },
    "employees:list": { type: "query", visibility: "public" },
    "employees:addPhone": { type: "mutation", visibility: "public" },
    "migrations:run": { type: "mutation", visibility: "internal" },
  });
  await expectNotCallable(visitor.mutation(internal.migrations.run, {}), "`run` must not be public");
});

test("get returns the same for both shapes", async () => {
  const same = { name: "Ada", office: "Oslo", phones: [{ label: "mobile", number: "111" }], remote: false };
  const cases: [GenericDocument, GenericDocument][] = [
    [old, same],
    [{ ...old, photo: "x" }, same],
    [{ ...old, phone: "" }, { ...same, phones: [] }],
    [current, current],
    [{ ...current, photo: "x" }, current],
    [same, same],
  ];
  for (const [employee, expected] of cases) {
    const { _id, _creationTime } = await stored(employee);
    const found = await visitor.query(api.employees.get, { employeeId: _id });
    expect(found, `\`get\` of ${JSON.stringify(employee)} must return exactly the fields of the task`).toEqual({ _id, _creationTime, ...expected });
  }
});

test("an employee who does not exist any more is null", async () => {
  const { _id } = await stored(old);
  await clearTables("employees");
  expect(await visitor.query(api.employees.get, { employeeId: _id }), "`get` must return null").toBeNull();
  const added = await visitor.mutation(api.employees.addPhone, { employeeId: _id, label: "home", number: "1" });
  expect(added, "`addPhone` must return null").toBeNull();
  expect(await listTable("employees"), "`addPhone` of an employee who does not exist must store nothing").toEqual([]);
});

test("list treats both shapes alike, in the order of names", async () => {
  const local = { ...current, remote: false };
  const employees = [
    { ...current, name: "Emmy" },
    { ...old, name: "Dora" },
    { ...local, name: "Carl" },
    { ...old, name: "Alan", phone: "" },
    { ...current, name: "Bea" },
    { ...local, name: "Fritz" },
    { ...old, name: "Hugo", office: "Rome" },
    { ...current, name: "Ines", office: "Rome" },
  ];
  await addDocuments("employees", employees);
  const names = async (office: string, remote: boolean) => (await visitor.query(api.employees.list, { office, remote })).map(({ name }) => name);
  expect(await names("Oslo", false), "`list` with `remote` false must hold employees in the old shape too, in the order of `name`").toEqual([
    "Alan",
    "Carl",
    "Dora",
    "Fritz",
  ]);
  expect(await names("Oslo", true), "`list` with `remote` true must hold the remote employees of the office, in the order of `name`").toEqual(["Bea", "Emmy"]);
  expect(await names("Paris", false), "`list` of an office without employees must return an empty list").toEqual([]);
  const [hugo, ines] = (await listTable("employees")).filter(({ office }) => office === "Rome");
  const remote = await visitor.query(api.employees.list, { office: "Rome", remote: true });
  expect(remote, "`list` must return employees with exactly the fields of the task").toEqual([ines]);
  const present = await visitor.query(api.employees.list, { office: "Rome", remote: false });
  expect(present, "`list` must return employees in the old shape with the fields of the new one").toEqual([hugo && migrated(hugo)]);
});

test("addPhone keeps what was there, and stores the new shape", async () => {
  const home = { label: "home", number: "333" } as const;
  const cases: [GenericDocument, GenericDocument][] = [
    [{ ...old, photo: "x" }, { name: "Ada", office: "Oslo", photo: "x", phones: [{ label: "mobile", number: "111" }, home], remote: false }],
    [{ ...old, phone: "" }, { name: "Ada", office: "Oslo", phones: [home], remote: false }],
    [current, { ...current, phones: [...current.phones, home] }],
  ];
  for (const [employee, expected] of cases) {
    await clearTables("employees");
    const { _id, _creationTime } = await stored(employee);
    const returned = await visitor.mutation(api.employees.addPhone, { employeeId: _id, ...home });
    const [after] = await listTable("employees");
    expect(after, `after \`addPhone\` the employee ${JSON.stringify(employee)} must be stored in the new shape`).toEqual({ _id, _creationTime, ...expected });
    const { photo: _, ...shown } = expected;
    expect(returned, "`addPhone` must return the employee as `get` does").toEqual({ _id, _creationTime, ...shown });
  }
});

test("addPhone refuses unknown labels", async () => {
  const { _id } = await stored(old);
  const wrong = { employeeId: _id, label: "fax" as "home", number: "1" };
  await expectError(visitor.mutation(api.employees.addPhone, wrong), "`addPhone` with an unknown label must be refused", { by: "arguments" });
});

test("the migration brings old employees into the new shape and leaves new ones alone", async () => {
  await addDocuments(
    "employees",
    Array.from({ length: 34 }, (_, index) => {
      const name = `Employee ${index}`;
      if (index % 3 === 0) return { ...current, name, remote: index % 2 === 0 };
      return { ...old, name, phone: index % 4 === 0 ? "" : String(index), ...(index % 5 === 0 && { photo: `photo ${index}` }) };
    }),
  );
  const before = await listTable("employees");
  const expected = before.map((employee) => ("phone" in employee ? migrated(employee) : employee));
  await migrate();
  const all = "after `run` all employees must be in the new shape, with the ids and everything else that they had";
  await eventually(async () => expect(await listTable("employees"), all).toEqual(expected), SOON);
  await migrate();
  expect(await listTable("employees"), "a second `run` must change nothing").toEqual(expected);

  await addDocuments("employees", [{ ...old, name: "Late" }]);
  await migrate();
  const later = "a later `run` must migrate employees that were stored in the old shape since";
  await eventually(async () => expect((await listTable("employees")).at(-1), later).not.toHaveProperty("phone"), SOON);
});

test("the migration of an empty table does nothing", async () => {
  await migrate();
  expect(await listTable("employees"), "`run` on an empty table must store nothing").toEqual([]);
});

test("a table bigger than what one transaction may read is migrated, and list reads only its office", async () => {
  // More than Convex lets one function read (16 MiB), between three small employees, which show how far the migration came.
  const heavy = () => addDocuments("employees", Array.from({ length: 10 }, () => ({ ...old, office: "Rome", photo: HUGE })));
  const small = [await stored({ ...old, name: "First" })];
  await heavy();
  small.push(await stored({ ...old, name: "Middle" }));
  await heavy();
  small.push(await stored({ ...old, name: "Last" }));

  const listed = await visitor.query(api.employees.list, { office: "Oslo", remote: false }).catch((cause: unknown) => {
    throw new Error("`list` must read only employees of its office, also where others have photos", { cause });
  });
  expect(listed.map(({ name }) => name)).toEqual(["First", "Last", "Middle"]);

  await migrate().catch((error: unknown) => {
    throw new Error(`no transaction of the migration may read or write more than 10 employees; it failed: ${String(error)}`, { cause: error });
  });
  const ids = small.map(({ _id }) => ({ id: _id, tableName: "employees" }));
  const toTheEnd = "`run` must migrate a big table to its end, by transactions that follow by themselves";
  await eventually(async () => expect(await admin.query(listById, { ids }), toTheEnd).toEqual(small.map(migrated)), SOON);
});
