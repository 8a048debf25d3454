"""The tester is an administrator of the project's deployment, in every way that graders go, at every level."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import Level
from convex_evals.records import Outcome
from tests.end_to_end.test_attacks import LEVELS, missing
from tests.factories import make_eval
from tests.grading.test_hostile_graders import grade

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

GRADER = """
import { ADMIN_KEY, adminClient, candidateUrl, siteUrl } from "convex-evals/grader";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

const hidden = makeFunctionReference<"query", {}, string>("notes:hidden");
const identity = Buffer.from('{"subject":"ada","issuer":"x"}').toString("base64");
const authorization = `Convex ${ADMIN_KEY}:${identity}`;
const authenticated = <T extends object>(client: T): T => {
  (client as unknown as { setAdminAuth(key: string): void }).setAdminAuth(ADMIN_KEY);
  return client;
};
const ASK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const body = JSON.stringify({ path: "notes:hidden", args: {} });
  fetch(workerData.url + "/api/query", { method: "POST", body, headers: { authorization: workerData.authorization } })
    .then(async (answer) => parentPort.postMessage(await answer.json()));
`;

test("by the official clients", async () => {
  for (const host of ["localhost", "127.0.0.1", "0.0.0.0"]) {
    const url = `http://${host}:${process.env.CONVEX_PORT}`;
    expect(await authenticated(new ConvexHttpClient(url, { logger: false })).query(hidden, {})).toBe("hidden");
    const live = authenticated(new ConvexClient(url));
    expect(await live.query(hidden, {})).toBe("hidden");
    await live.close();
  }
});
test("by the library, and by HTTP actions", async () => {
  expect(await adminClient().query(hidden, {})).toBe("hidden");
  expect(await (await fetch(siteUrl("/who"), { headers: { authorization } })).text()).toBe("ada");
});
test("a thread starts no program", async () => {
  for (const start of ['spawnSync("true").status', 'spawn("true").pid']) {
    const tell = 'require("node:worker_threads").parentPort.postMessage';
    const worker = new Worker(`${tell}(require("node:child_process").${start})`, { eval: true });
    const said = new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    await expect(said).rejects.toThrow(/starts programs/);
  }
});
test("in a thread", async () => {
  const worker = new Worker(ASK, { eval: true, workerData: { url: candidateUrl(), authorization } });
  const said = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  expect(said).toMatchObject({ status: "success", value: "hidden" });
  await worker.terminate();
});
"""
NOTES = """import { v } from "convex/values";
import { internalQuery } from "./_generated/server";
export const hidden = internalQuery({ args: {}, returns: v.string(), handler: async () => "hidden" });
"""
HTTP = """import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";
const http = httpRouter();
const handler = httpAction(async (ctx) => new Response((await ctx.auth.getUserIdentity())?.subject ?? "nobody"));
http.route({ path: "/who", method: "GET", handler });
export default http;
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can reach, as some levels start a grader as a user of its own."""
    with tempfile.TemporaryDirectory(prefix="doors-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.parametrize("level", [*LEVELS, Level.NONE])
def test_the_admin_key_works_for_the_tester(level: Level, folder: Path) -> None:
    if reason := missing(level):
        pytest.skip(reason)
    answer = {"answer/convex/notes.ts": NOTES, "answer/convex/http.ts": HTTP}
    suite = folder / "suite"
    make_eval(suite, files={"grader.test.ts": GRADER, **answer})
    try:
        verdict = asyncio.run(grade(suite, level))
    except UserError as error:
        pytest.skip(str(error))
    assert verdict.outcome is Outcome.PASSED, verdict


URLS = """import { v } from "convex/values";
import { query } from "./_generated/server";
declare const process: { env: Record<string, string | undefined> };
export const urls = query({
  args: {},
  returns: v.array(v.string()),
  handler: async () => [process.env.CONVEX_CLOUD_URL ?? "", process.env.CONVEX_SITE_URL ?? ""],
});
"""
ASKS_FOR_URLS = """
import { anonymousClient } from "convex-evals/grader";
import { makeFunctionReference } from "convex/server";
import { expect, test } from "vitest";

test("a function sees the URLs of a local deployment, which lead to its own", async () => {
  const urls = await anonymousClient().query(makeFunctionReference<"query", {}, string[]>("seen:urls"), {});
  expect(urls).toEqual(["http://127.0.0.1:3210", "http://127.0.0.1:3211"]);
  expect(process.env.CONVEX_PORT).toBe("3210");
  expect((await fetch(`${urls[0]}/version`)).status).toBe(200);
});
"""


def test_a_deployment_has_the_urls_of_a_local_one(folder: Path) -> None:
    if reason := missing(Level.STRICT):
        pytest.skip(reason)
    suite = folder / "suite"
    make_eval(suite, files={"grader.test.ts": ASKS_FOR_URLS, "answer/convex/seen.ts": URLS})
    verdict = asyncio.run(grade(suite, Level.STRICT))
    assert verdict.outcome is Outcome.PASSED, verdict
