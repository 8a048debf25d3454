import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import type { GenericDocument } from "convex/server";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Doc, Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const HUGE = "x".repeat(900_000);

/** Stores documents and returns their ids. */
async function stored<T extends "students" | "courses">(table: T, documents: GenericDocument[]): Promise<Id<T>[]> {
  await addDocuments(table, documents);
  return (await listTable(table)).slice(-documents.length).map(({ _id }) => _id as Id<T>);
}

const makeStudents = (...names: string[]) => stored("students", names.map((name) => ({ name })));
const makeCourses = (...titles: string[]) => stored("courses", titles.map((title) => ({ title })));

async function makeStudent(name = "Ada"): Promise<Id<"students">> {
  return (await makeStudents(name))[0] as Id<"students">;
}

async function makeCourse(title = "Logic"): Promise<Id<"courses">> {
  return (await makeCourses(title))[0] as Id<"courses">;
}

const enrollments = () => listTable<Doc<"enrollments">>("enrollments");

/** The ids of listed documents; whatever is no document stays as it is. */
function ids(documents: ({ _id: string } | null)[]): (string | null)[] {
  return documents.map((document) => document && document._id);
}

beforeEach(() => clearTables("enrollments", "students", "courses"));

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the functions are public queries and mutations", async () => {
  const publicQuery = { type: "query", visibility: "public" } as const;
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({
    "enrollments:enroll": publicMutation,
    "enrollments:withdraw": publicMutation,
    "enrollments:isEnrolled": publicQuery,
    "enrollments:coursesOf": publicQuery,
    "enrollments:studentsOf": publicQuery,
  });
});

test("enroll stores one enrollment and returns its id", async () => {
  const pair = { studentId: await makeStudent(), courseId: await makeCourse() };
  const id = await visitor.mutation(api.enrollments.enroll, { ...pair, letter: "I like logic." });
  const [enrollment, ...more] = await enrollments();
  expect(enrollment, "`enroll` must store the ids of the student and the course, and the letter").toMatchObject({ ...pair, letter: "I like logic." });
  expect(more, "`enroll` must store one enrollment").toEqual([]);
  expect(id, "`enroll` must return the id of the enrollment").toBe(enrollment?._id);
});

test("a letter that is absent is not stored", async () => {
  const pair = { studentId: await makeStudent(), courseId: await makeCourse() };
  await visitor.mutation(api.enrollments.enroll, pair);
  expect((await enrollments()).map((enrollment) => "letter" in enrollment), "an enrollment without a letter has no field `letter`").toEqual([false]);
});

test("a second enroll of the same pair changes nothing", async () => {
  const pair = { studentId: await makeStudent(), courseId: await makeCourse() };
  const first = await visitor.mutation(api.enrollments.enroll, { ...pair, letter: "first" });
  const before = await enrollments();
  for (const args of [{ ...pair, letter: "second" }, pair]) {
    const again = await visitor.mutation(api.enrollments.enroll, args);
    expect(again, "`enroll` of a student who is enrolled must return the id of the enrollment that exists").toBe(first);
  }
  expect(await enrollments(), "`enroll` of a student who is enrolled must change nothing").toEqual(before);
});

test("a pair that is enrolled several times at once is enrolled once", async () => {
  const pair = { studentId: await makeStudent(), courseId: await makeCourse() };
  const returned = await Promise.all(Array.from({ length: 5 }, () => visitor.mutation(api.enrollments.enroll, pair)));
  const found = await enrollments();
  expect(found.length, "five simultaneous calls of `enroll` for one pair must leave one enrollment").toBe(1);
  expect(returned, "all of them must return its id").toEqual(returned.map(() => found[0]?._id));
});

test("the pair must be unique, not each side of it", async () => {
  const [ada, alan] = (await makeStudents("Ada", "Alan")) as [Id<"students">, Id<"students">];
  const [logic, music] = (await makeCourses("Logic", "Music")) as [Id<"courses">, Id<"courses">];
  for (const studentId of [ada, alan]) {
    for (const courseId of [logic, music]) await visitor.mutation(api.enrollments.enroll, { studentId, courseId });
  }
  expect((await enrollments()).length, "two students can both be enrolled in the same two courses").toBe(4);
});

test("enroll refuses students and courses that do not exist any more", async () => {
  const goneStudent = { studentId: await makeStudent(), courseId: await makeCourse() };
  await clearTables("students");
  await expectError(visitor.mutation(api.enrollments.enroll, goneStudent), "`enroll` of a student who does not exist any more must be refused");
  const goneCourse = { studentId: await makeStudent(), courseId: goneStudent.courseId };
  await clearTables("courses");
  await expectError(visitor.mutation(api.enrollments.enroll, goneCourse), "`enroll` in a course that does not exist any more must be refused");
  expect(await enrollments(), "an `enroll` that is refused must store nothing").toEqual([]);
});

test("withdraw deletes the enrollment of this pair alone", async () => {
  const [ada, alan] = (await makeStudents("Ada", "Alan")) as [Id<"students">, Id<"students">];
  const [logic, music] = (await makeCourses("Logic", "Music")) as [Id<"courses">, Id<"courses">];
  await visitor.mutation(api.enrollments.enroll, { studentId: ada, courseId: music });
  await visitor.mutation(api.enrollments.enroll, { studentId: alan, courseId: logic });
  const others = await enrollments();
  const pair = { studentId: ada, courseId: logic };
  expect(await visitor.mutation(api.enrollments.withdraw, pair), "`withdraw` of a pair that is not enrolled must return false").toBe(false);
  expect(await enrollments(), "`withdraw` of a pair that is not enrolled must change nothing").toEqual(others);

  await visitor.mutation(api.enrollments.enroll, pair);
  expect(await visitor.mutation(api.enrollments.withdraw, pair), "`withdraw` of a pair that is enrolled must return true").toBe(true);
  expect(await enrollments(), "`withdraw` must delete the enrollment of its pair and no other").toEqual(others);
  expect(await visitor.mutation(api.enrollments.withdraw, pair), "a second `withdraw` must return false").toBe(false);

  await visitor.mutation(api.enrollments.enroll, pair);
  expect((await enrollments()).length, "after `withdraw` the student can enroll again").toBe(3);
});

test("isEnrolled tells pairs apart", async () => {
  const [ada, alan] = (await makeStudents("Ada", "Alan")) as [Id<"students">, Id<"students">];
  const [logic, music] = (await makeCourses("Logic", "Music")) as [Id<"courses">, Id<"courses">];
  await visitor.mutation(api.enrollments.enroll, { studentId: ada, courseId: logic });
  const isEnrolled = (studentId: Id<"students">, courseId: Id<"courses">) => visitor.query(api.enrollments.isEnrolled, { studentId, courseId });
  expect(await isEnrolled(ada, logic), "`isEnrolled` must return true for a pair that is enrolled").toBe(true);
  expect(await isEnrolled(ada, music), "`isEnrolled` must return false for another course of the student").toBe(false);
  expect(await isEnrolled(alan, logic), "`isEnrolled` must return false for another student of the course").toBe(false);
});

test("both sides list whole documents in the order of enrollment", async () => {
  const students = await makeStudents("Ada", "Alan", "Grace", "Kurt", "Emmy");
  const courses = await makeCourses("Algebra", "Biology", "Chemistry", "Dance", "Economics");
  // Neither the order in which the documents were made, nor that of their names, nor its reverse. Nor is it that of the
  // ids, which are random: with five of them it would be so once in a hundred times.
  const isSorted = (ids: string[]) => ids.every((id, at) => at === 0 || (ids[at - 1] as string) < id);
  const orders = [[3, 1, 4, 0, 2], [1, 3, 0, 4, 2], [2, 4, 1, 0, 3]];
  const order = orders.find((each) => {
    const listed = [...each.filter((index) => index !== 0), 0];
    return !isSorted(listed.map((index) => courses[index] as string)) && !isSorted(each.map((index) => students[index] as string));
  }) as number[];
  const [studentId, courseId] = [students[0] as Id<"students">, courses[0] as Id<"courses">];
  for (const index of order) await visitor.mutation(api.enrollments.enroll, { studentId, courseId: courses[index] as Id<"courses"> });
  await visitor.mutation(api.enrollments.withdraw, { studentId, courseId });
  for (const index of order) await visitor.mutation(api.enrollments.enroll, { studentId: students[index] as Id<"students">, courseId });

  const allCourses = await listTable("courses");
  const found = await visitor.query(api.enrollments.coursesOf, { studentId });
  expect(found, "`coursesOf` must return whole documents, the earliest enrollment first").toEqual(
    [...order.filter((index) => index !== 0), 0].map((index) => allCourses.find(({ _id }) => _id === courses[index])),
  );
  const allStudents = await listTable("students");
  const attending = await visitor.query(api.enrollments.studentsOf, { courseId });
  expect(attending, "`studentsOf` must return whole documents, the earliest enrollment first").toEqual(
    order.map((index) => allStudents.find(({ _id }) => _id === students[index])),
  );
  const other = await visitor.query(api.enrollments.studentsOf, { courseId: courses[3] as Id<"courses"> });
  expect(ids(other), "`studentsOf` must return the students of this course alone").toEqual([studentId]);
});

test("the lists of students and courses without enrollments are empty", async () => {
  const [studentId, courseId] = [await makeStudent(), await makeCourse()];
  expect(await visitor.query(api.enrollments.coursesOf, { studentId }), "`coursesOf` must return an empty list").toEqual([]);
  expect(await visitor.query(api.enrollments.studentsOf, { courseId }), "`studentsOf` must return an empty list").toEqual([]);
});

test("the lists leave out what was deleted", async () => {
  const studentId = await makeStudent();
  await visitor.mutation(api.enrollments.enroll, { studentId, courseId: await makeCourse("Logic") });
  await clearTables("courses");
  const courseId = await makeCourse("Music");
  await visitor.mutation(api.enrollments.enroll, { studentId, courseId });
  const courses = await visitor.query(api.enrollments.coursesOf, { studentId });
  expect(ids(courses), "`coursesOf` must leave out a course that does not exist any more").toEqual([courseId]);
  await clearTables("students");
  const newcomer = await makeStudent("Alan");
  await visitor.mutation(api.enrollments.enroll, { studentId: newcomer, courseId });
  const students = await visitor.query(api.enrollments.studentsOf, { courseId });
  expect(ids(students), "`studentsOf` must leave out a student who does not exist any more").toEqual([newcomer]);
});

test("ids of another table are refused", async () => {
  const studentId = await makeStudent();
  const courseId = await makeCourse();
  const swapped = { studentId: courseId, courseId: studentId } as unknown as { studentId: Id<"students">; courseId: Id<"courses"> };
  const calls = {
    enroll: () => visitor.mutation(api.enrollments.enroll, swapped),
    withdraw: () => visitor.mutation(api.enrollments.withdraw, swapped),
    isEnrolled: () => visitor.query(api.enrollments.isEnrolled, swapped),
    coursesOf: () => visitor.query(api.enrollments.coursesOf, { studentId: swapped.studentId }),
    studentsOf: () => visitor.query(api.enrollments.studentsOf, { courseId: swapped.courseId }),
  };
  for (const [name, call] of Object.entries(calls)) {
    await expectError(call(), `\`${name}\` with ids of another table must be refused`, { by: "arguments" });
  }
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(call: Promise<T>, rule: string): Promise<T> {
  return await call.catch((error: unknown) => {
    throw new Error(`${rule}; the call failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test("no function reads enrollments that it is not asked about", async () => {
  const [ada, busy] = (await makeStudents("Ada", "Busy")) as [Id<"students">, Id<"students">];
  const [logic, famous] = (await makeCourses("Logic", "Famous")) as [Id<"courses">, Id<"courses">];
  // More than Convex lets one function read (16 MiB), for one student and for one course.
  const others = await makeCourses(...Array.from({ length: 20 }, (_, index) => `Course ${index}`));
  const fans = await makeStudents(...Array.from({ length: 20 }, (_, index) => `Fan ${index}`));
  await addDocuments("enrollments", others.slice(0, 10).map((courseId) => ({ studentId: busy, courseId, letter: HUGE })));
  await addDocuments("enrollments", others.slice(10).map((courseId) => ({ studentId: busy, courseId, letter: HUGE })));
  await addDocuments("enrollments", fans.slice(0, 10).map((studentId) => ({ studentId, courseId: famous, letter: HUGE })));
  await addDocuments("enrollments", fans.slice(10).map((studentId) => ({ studentId, courseId: famous, letter: HUGE })));

  const pair = "must read only the enrollment of its pair";
  for (const args of [{ studentId: busy, courseId: logic }, { studentId: ada, courseId: famous }, { studentId: busy, courseId: famous }]) {
    const { enroll, withdraw, isEnrolled } = api.enrollments;
    expect(await frugal(visitor.query(isEnrolled, args), `\`isEnrolled\` ${pair}`)).toBe(false);
    await frugal(visitor.mutation(enroll, args), `\`enroll\` ${pair}`);
    expect(await frugal(visitor.query(isEnrolled, args), `\`isEnrolled\` ${pair}`)).toBe(true);
    expect(await frugal(visitor.mutation(withdraw, args), `\`withdraw\` ${pair}`)).toBe(true);
  }

  await visitor.mutation(api.enrollments.enroll, { studentId: ada, courseId: logic });
  const courses = await frugal(visitor.query(api.enrollments.coursesOf, { studentId: ada }), "`coursesOf` must read only enrollments of its student");
  expect(ids(courses)).toEqual([logic]);
  const students = await frugal(visitor.query(api.enrollments.studentsOf, { courseId: logic }), "`studentsOf` must read only enrollments of its course");
  expect(ids(students)).toEqual([ada]);
});
