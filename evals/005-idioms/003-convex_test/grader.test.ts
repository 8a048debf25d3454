import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { askInRandomOrder, disguise, projectDir, runProjectTests, type ProjectTests } from "convex-evals/grader";
import { beforeAll, describe, expect, test } from "vitest";

/*
 * The model's tests run once for each implementation: the given one, one that is written differently, and several that
 * break one rule each. Each gets a run of its own of the project's vitest, whose exit code is the answer. All but the given one are
 * disguised, or a test could pass for knowing their texts.
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

const GIVEN_PASSES = "given", REWRITTEN_PASSES = "rewritten", DISGUISED_PASSES = "given, in other words";
const RUNS_MS = 220_000;

/** The files that the task gives, with this implementation. */
function filesWith(implementation: string): Record<string, string> {
  const generated = readdirSync(join(ANSWER, "_generated")).map((name) => [`convex/_generated/${name}`, readFileSync(join(ANSWER, "_generated", name), "utf8")] as const);
  const schema = readFileSync(join(ANSWER, "schema.ts"), "utf8");
  return { ...Object.fromEntries(generated), "convex/schema.ts": schema, "convex/reservations.ts": implementation };
}

const outcomes = new Map<string, ProjectTests>();

async function ask(question: string): Promise<ProjectTests> {
  if (question === GIVEN_PASSES) return await runProjectTests(filesWith(GIVEN));
  if (question === REWRITTEN_PASSES) return await runProjectTests(filesWith(await disguise(REWRITTEN)));
  if (question === DISGUISED_PASSES) return await runProjectTests(filesWith(await disguise(GIVEN)));
  return await runProjectTests(filesWith(await disguise(BROKEN[question]!)));
}

beforeAll(async () => {
  const project = projectDir();
  const missing = [CONFIG, TEST_FILE, "node_modules/vitest", "node_modules/convex-test"].filter((path) => !existsSync(join(project, path)));
  if (missing.length > 0) throw new Error(`The project must have ${missing.map((path) => `\`${path}\``).join(", ")}`);
  outcomes.set(GIVEN_PASSES, await ask(GIVEN_PASSES));
  // Otherwise failures show nothing.
  if (!outcome(GIVEN_PASSES).passed) return;
  const others = [REWRITTEN_PASSES, DISGUISED_PASSES, ...Object.keys(BROKEN)];
  for (const [question, answer] of await askInRandomOrder(others, ask)) outcomes.set(question, answer);
}, RUNS_MS);

function outcome(question: string): ProjectTests {
  return outcomes.get(question) ?? { passed: false, timedOut: false, printed: "" };
}

function expectPassed(question: string, rule: string): void {
  const { passed, printed } = outcome(question);
  expect(passed, `${rule}. vitest printed:\n${printed}`).toBe(true);
}

test("the given implementation passes", () => {
  expectPassed(GIVEN_PASSES, "with the given implementation all tests must run and pass");
});

test("vitest finds the tests", () => {
  expectPassed(GIVEN_PASSES, "with the given implementation all tests must run and pass");
  // Vitest's own words serve here: to say so of tests that do not run would help no project.
  expect(outcome(GIVEN_PASSES).printed, `\`npx vitest run\` must run \`${TEST_FILE}\``).toContain(TEST_FILE);
});

test("another implementation that keeps all rules passes", () => {
  expectPassed(REWRITTEN_PASSES, "with another implementation that keeps all rules all tests must pass");
  expectPassed(DISGUISED_PASSES, "with the given implementation in other words all tests must pass");
});

describe("an implementation fails that breaks the rule:", () => {
  test.each(Object.keys(BROKEN))("%s", (rule) => {
    expect(outcome(GIVEN_PASSES).passed, "the tests must pass with the given implementation, or a failure shows nothing").toBe(true);
    const { passed, timedOut } = outcome(rule);
    expect(timedOut, `the tests must end where this rule is broken: ${rule}`).toBe(false);
    expect(passed, `at least one test must fail where this rule is broken: ${rule}`).toBe(false);
  });
});
