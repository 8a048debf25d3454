import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { projectDir } from "convex-evals/grader";
import { beforeAll, describe, expect, test } from "vitest";

/*
 * The model's tests run once for each implementation: the given one, one that is written differently, and several that
 * break one rule each. Every implementation gets a copy of the project in a folder of its own, and one run of the
 * project's vitest runs them all, which takes a fraction of the time of one run each.
 */

const ANSWER = fileURLToPath(new URL("./answer/convex", import.meta.url));
const GIVEN = readFileSync(join(ANSWER, "reservations.ts"), "utf8");
const CONFIG = "vitest.config.ts";
const TEST_FILE = "convex/reservations.test.ts";

/** The given implementation with one passage replaced. */
function changed(passage: string, replacement: string): string {
  const parts = GIVEN.split(passage);
  if (parts.length !== 2) throw new Error(`the given implementation must have this passage once: ${passage}`);
  return parts.join(replacement);
}

/** Keeps all rules, with other words, other ways through the tables, and another call of the scheduler. */
const REWRITTEN = `
import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";

const own = { reservationId: v.id("reservations") };

async function whoIsIt({ auth }: QueryCtx) {
  const token = (await auth.getUserIdentity())?.tokenIdentifier;
  if (!token) throw new ConvexError({ code: "LOGIN" });
  return token;
}

async function mine(ctx: MutationCtx, id: Id<"reservations">) {
  const [me, found] = await Promise.all([whoIsIt(ctx), ctx.db.get(id)]);
  if (found?.user !== me) throw new ConvexError({ code: "UNKNOWN" });
  return found;
}

export const expire = internalMutation({
  args: own,
  handler: async ({ db }, { reservationId }) => {
    const found = await db.get(reservationId);
    if (found?.confirmed === false) await db.delete(reservationId);
    return null;
  },
});

export const listMine = query({
  args: {},
  handler: async (ctx) => {
    const me = await whoIsIt(ctx);
    const all = await ctx.db.query("reservations").collect();
    return all.filter(({ user }) => user === me).sort((a, b) => a.from - b.from);
  },
});

export const cancel = mutation({
  args: own,
  handler: async (ctx, { reservationId }) => {
    await mine(ctx, reservationId);
    await ctx.db.delete(reservationId);
    return null;
  },
});

export const confirm = mutation({
  args: own,
  handler: async (ctx, { reservationId }) => {
    const { _id, _creationTime, ...fields } = await mine(ctx, reservationId);
    await ctx.db.replace(reservationId, { ...fields, confirmed: true });
    return null;
  },
});

export const create = mutation({
  args: { to: v.number(), from: v.number(), room: v.string() },
  handler: async (ctx, { room, from, to }) => {
    const user = await whoIsIt(ctx);
    if (!(from < to)) throw new ConvexError({ code: "ORDER" });
    for await (const other of ctx.db.query("reservations").withIndex("by_room", (q) => q.eq("room", room))) {
      if (other.to > from && to > other.from) throw new ConvexError({ code: "TAKEN", by: other._id });
    }
    const id = await ctx.db.insert("reservations", { room, from, to, user, confirmed: false });
    await ctx.scheduler.runAt(Date.now() + 900_000, internal.reservations.expire, { reservationId: id });
    return id;
  },
});
`;

const OVERLAP = "args.from < other.to && other.from < args.to";
const OWN = "const reservation = await ownReservation(ctx, args.reservationId);";
const ANYBODYS = `await currentUser(ctx);
    const reservation = await ctx.db.get(args.reservationId);
    if (reservation === null) throw new Error("No such reservation");`;
const CONFIRM = `${OWN}\n    await ctx.db.patch`;
const CANCEL = `${OWN}\n    await ctx.db.delete`;

/** Implementations that must pass, by name. */
const RIGHT: Record<string, string> = { given: GIVEN, rewritten: REWRITTEN };

/** Implementations that break the rule that is their name: not all rules, as each takes its time. */
const BROKEN: Record<string, string> = {
  "without a login every function throws": changed('throw new Error("Not logged in");', 'return "anonymous";'),
  "`from` must be less than `to`, not equal": changed("args.from >= args.to", "args.from > args.to"),
  "users are known by the `tokenIdentifier`, not by a part of it": changed("return identity.tokenIdentifier;", "return identity.subject;"),
  "reservations that touch do not overlap": changed(OVERLAP, "args.from <= other.to && other.from <= args.to"),
  "an overlap at the beginning of another reservation is refused": changed(OVERLAP, "args.from < other.to && other.from <= args.from"),
  "reservations of other rooms do not matter": changed('.withIndex("by_room", (q) => q.eq("room", args.room))', ""),
  "`confirm` is for the owner only": changed(CONFIRM, CONFIRM.replace(OWN, ANYBODYS)),
  "`cancel` is for the owner only": changed(CANCEL, CANCEL.replace(OWN, ANYBODYS)),
  "`listMine` returns the user's own reservations only": changed('"by_user_and_from", (q) => q.eq("user", user)', '"by_user_and_from"'),
  "`listMine` returns the earliest reservation first": changed('q.eq("user", user))\n', 'q.eq("user", user))\n      .order("desc")\n'),
  "a reservation that is not confirmed is deleted by itself": changed(/await ctx\.scheduler.*/.exec(GIVEN)?.[0] ?? "", ""),
  "a reservation is not deleted before 15 minutes are over": changed("const MINUTES_TO_CONFIRM = 15;", "const MINUTES_TO_CONFIRM = 14;"),
  "a confirmed reservation stays": changed("reservation !== null && !reservation.confirmed", "reservation !== null"),
};

const folders = new Map(Object.keys({ ...RIGHT, ...BROKEN }).map((name, index) => [name, `v${index}`]));

/**
 * Written into the scratch folder as its vitest configuration: the project's own one, with its paths led to all copies.
 * All files share their workers, so what a test left behind is taken away after each file.
 */
const COMBINED = `
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { loadConfigFromFile } from "vite";

const folders = FOLDERS;
const first = resolve(import.meta.dirname, folders[0]);
const loaded = await loadConfigFromFile({ command: "serve", mode: "test" }, resolve(first, "vitest.config.ts"), first, "error");
const { root: _, ...config } = loaded?.config ?? {};
const list = (value) => (value === undefined ? [] : [value].flat());
const led = (path) => (path.startsWith(".") || existsSync(resolve(first, path)) ? resolve(first, path) : path);

function adapted({ include, setupFiles, dir: _dir, root: _root, ...test }) {
  return {
    ...test,
    include: (include ?? ["**/*.{test,spec}.?(c|m)[jt]s?(x)"]).flatMap((pattern) =>
      folders.map((folder) => folder + "/" + pattern.replace(/^\\.?\\//, "").replace(resolve(first) + "/", "")),
    ),
    setupFiles: [resolve(import.meta.dirname, "setup.mjs"), ...list(setupFiles).map(led)],
    ...(test.projects && {
      projects: test.projects.map((project) =>
        typeof project === "object" && project.test ? { ...project, root: undefined, test: adapted(project.test) } : project,
      ),
    }),
    pool: "forks",
    poolOptions: { forks: { isolate: false } },
    isolate: false,
    coverage: { enabled: false },
    watch: false,
  };
}

export default { ...config, test: adapted(config.test ?? {}) };
`;

/** A copy with a broken implementation is done with its first failure: the rest of the file is skipped. */
const SETUP = `
import { afterAll, beforeEach, vi } from "vitest";

const broken = BROKEN;
const failed = new Set();

beforeEach((context) => {
  const { filepath } = context.task.file;
  if (failed.has(filepath)) context.skip();
  if (broken.some((folder) => filepath.includes("/" + folder + "/"))) context.onTestFailed(() => void failed.add(filepath));
});

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
`;

interface Report {
  testResults: { name: string; status: string; message: string; assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
}

/** What came of one implementation. */
interface Outcome {
  files: string[];
  passed: number;
  failures: string[];
}

const outcomes = new Map<string, Outcome>();
let printed = "";

function outcomeOf(folder: string, scratch: string, report: Report): Outcome {
  const prefix = join(scratch, folder) + sep;
  const files = report.testResults.filter(({ name }) => name.startsWith(prefix));
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  return {
    files: files.map(({ name }) => name.slice(prefix.length)),
    passed: tests.filter(({ status }) => status === "passed").length,
    failures: [
      ...files.filter(({ status, assertionResults }) => status === "failed" && assertionResults.length === 0).map(({ message }) => message),
      ...tests.filter(({ status }) => status === "failed").map(({ title, failureMessages }) => `${title}: ${failureMessages[0]?.split("\n")[0] ?? ""}`),
    ],
  };
}

/** Lays out the scratch folder; returns its real path. */
function prepare(project: string): string {
  const scratch = realpathSync(mkdtempSync(join(process.cwd(), "tests-")));
  // A folder of links, so that what vite writes into node_modules stays here.
  mkdirSync(join(scratch, "node_modules"));
  for (const name of readdirSync(join(project, "node_modules"))) {
    if (!name.startsWith(".")) symlinkSync(realpathSync(join(project, "node_modules", name)), join(scratch, "node_modules", name));
  }
  for (const [name, text] of Object.entries({ ...RIGHT, ...BROKEN })) {
    const copy = join(scratch, folders.get(name) ?? "");
    cpSync(project, copy, { recursive: true, filter: (source) => basename(source) !== "node_modules" && basename(source) !== ".git" });
    cpSync(join(ANSWER, "_generated"), join(copy, "convex/_generated"), { recursive: true });
    cpSync(join(ANSWER, "schema.ts"), join(copy, "convex/schema.ts"));
    writeFileSync(join(copy, "convex/reservations.ts"), text);
  }
  writeFileSync(join(scratch, "package.json"), '{ "private": true, "type": "module" }');
  const broken = Object.keys(BROKEN).map((name) => folders.get(name));
  writeFileSync(join(scratch, "setup.mjs"), SETUP.replace("BROKEN", JSON.stringify(broken)));
  writeFileSync(join(scratch, "combined.config.mjs"), COMBINED.replace("FOLDERS", JSON.stringify([...folders.values()])));
  return scratch;
}

/** Runs the project's vitest; resolves when it ended. */
function runVitest(scratch: string): Promise<void> {
  const program = join(scratch, "node_modules/vitest/vitest.mjs");
  const args = [program, "run", "--config", "combined.config.mjs", "--reporter=json", "--outputFile=report.json"];
  // Only what any shell has: nothing of the vitest that runs this grader.
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: scratch,
    env: { PATH, HOME, TMPDIR, CI: "1" } as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      printed = (printed + chunk.toString("utf8")).slice(-4000);
    });
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), 55_000);
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

beforeAll(async () => {
  const project = projectDir();
  const missing = [CONFIG, TEST_FILE, "node_modules/vitest", "node_modules/convex-test"].filter((path) => !existsSync(join(project, path)));
  if (missing.length > 0) throw new Error(`The project must have ${missing.map((path) => `\`${path}\``).join(", ")}`);
  const scratch = prepare(project);
  await runVitest(scratch);
  if (!existsSync(join(scratch, "report.json"))) throw new Error(`The project's vitest must run the tests to their end. It printed:\n${printed}`);
  const report = JSON.parse(readFileSync(join(scratch, "report.json"), "utf8")) as Report;
  for (const [name, folder] of folders) outcomes.set(name, outcomeOf(folder, scratch, report));
});

function outcome(name: string): Outcome {
  return outcomes.get(name) ?? { files: [], passed: 0, failures: [] };
}

test("vitest finds the tests", () => {
  expect(outcome("given").files, `\`npx vitest run\` must run \`${TEST_FILE}\``).toContain(TEST_FILE);
});

test("the given implementation passes", () => {
  const { passed, failures } = outcome("given");
  expect(failures, "with the given implementation all tests must pass").toEqual([]);
  expect(passed, "with the given implementation at least one test must run and pass").toBeGreaterThan(0);
});

test("another implementation that keeps all rules passes", () => {
  const { passed, failures } = outcome("rewritten");
  expect(failures, "with another implementation that keeps all rules all tests must pass").toEqual([]);
  expect(passed, "with another implementation at least one test must run and pass").toBeGreaterThan(0);
});

describe("an implementation fails that breaks the rule:", () => {
  test.each(Object.keys(BROKEN))("%s", (rule) => {
    const { passed, failures } = outcome("given");
    expect(passed > 0 && failures.length === 0, "the tests must pass with the given implementation, or a failure shows nothing").toBe(true);
    expect(outcome(rule).failures.length, `at least one test must fail where this rule is broken: ${rule}`).toBeGreaterThan(0);
  });
});
