/** What happens with time, on a clock of the tests: convex-test instead of a deployment. */
import rateLimiter from "@convex-dev/rate-limiter/test";
import { convexTest, type TestConvex } from "convex-test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api, internal } from "../convex/_generated/api";
import schema from "../convex/schema";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PLAN = ["a/1", "a/2"];

type App = TestConvex<typeof schema>;

function makeApp(): App {
  const t = convexTest(schema, import.meta.glob("../convex/**/*.*s"));
  rateLimiter.register(t);
  return t;
}

async function makeToken(t: App, more: { expiresInDays?: number } = {}): Promise<string> {
  return (await t.action(internal.auth.createToken, { name: "test", ...more })).value;
}

async function startRun(t: App, token: string, runId: string) {
  const model = { token, slug: "acme/m", formattedName: "M" };
  const modelId = await t.mutation(api.admin.ensureModelFromSlug, model);
  return await t.mutation(api.admin.startRun, { token, modelId, provider: "acme", runId, plannedEvals: PLAN });
}

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 10, 1) }));
afterEach(() => void vi.useRealTimers());

test("a token ends on its day and not before, and so does its claim to its name", async () => {
  const t = makeApp();
  const token = await makeToken(t, { expiresInDays: 90 });
  const ask = () => t.mutation(api.admin.checkAssetHash, { token, hash: "h" });
  vi.advanceTimersByTime(90 * DAY - 1);
  await ask();
  await expect(makeToken(t)).rejects.toThrow("There is a token test already");
  vi.advanceTimersByTime(1);
  await expect(ask()).rejects.toThrow("Expired authentication token");
  await makeToken(t);
});

test("the last use of a token is known to the minute, without a write for each call", async () => {
  const t = makeApp();
  const token = await makeToken(t);
  const used = async () => {
    await t.mutation(api.admin.checkAssetHash, { token, hash: "h" });
    return (await t.query(internal.auth.listTokens, {}))[0]?.lastUsedAt;
  };
  const first = await used();
  vi.advanceTimersByTime(MINUTE / 2);
  expect(await used()).toBe(first);
  vi.advanceTimersByTime(MINUTE);
  expect(await used()).toBe(Date.now());
});

test("a run that was left is ended three hours after its start, with what it left", async () => {
  const t = makeApp();
  const token = await makeToken(t);
  const left = await startRun(t, token, "left");
  const [category = "", name = ""] = PLAN[0]!.split("/");
  await t.mutation(api.admin.startEval, { token, runId: left, evalPath: PLAN[0]!, category, name });
  vi.advanceTimersByTime(2 * HOUR);
  const later = await startRun(t, token, "later");
  const statuses = async () => {
    await t.mutation(internal.runs.failUnfinished, {});
    const runs = await Promise.all([left, later].map((runId) => t.query(api.runs.getRunDetails, { runId })));
    return runs.map((run) => run?.status.kind);
  };
  vi.advanceTimersByTime(HOUR - 1);
  expect(await statuses()).toEqual(["running", "running"]);
  vi.advanceTimersByTime(2); // documents of one moment have times a fraction apart
  expect(await statuses()).toEqual(["failed", "running"]);
  expect((await t.query(api.runs.getRunDetails, { runId: left }))?.evals).toEqual([]);
});

test("the runs of a history are of their own moments, newest first", async () => {
  const t = makeApp();
  const token = await makeToken(t);
  const begun: number[] = [];
  for (const runId of ["1", "2", "3"]) {
    vi.advanceTimersByTime(DAY);
    begun.unshift(Date.now());
    const run = await startRun(t, token, runId);
    for (const evalPath of PLAN) {
      const [category = "", name = ""] = evalPath.split("/");
      const evalId = await t.mutation(api.admin.startEval, { token, runId: run, evalPath, category, name });
      await t.mutation(api.admin.completeEval, { token, evalId, status: { kind: "passed", durationMs: 1 } });
    }
    await t.mutation(api.admin.completeRun, { token, runId: run, status: { kind: "completed", durationMs: 1 } });
  }
  const history = await t.query(api.runs.leaderboardModelHistory, { model: "acme/m" });
  expect(history.map((each) => Math.floor(each._creationTime))).toEqual(begun);
  const modelId = (await t.query(api.models.getBySlug, { slug: "acme/m" }))!._id;
  const stats = await t.query(api.modelScores.getSchedulingStats, { modelId });
  expect(stats).toEqual({ latestRunTime: begun[0], averageRunCostUsd: null });
});
