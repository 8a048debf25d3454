"""A grader of a suite that is up to no good: what it finds on the machine, and what it leaves there."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from pathlib import Path

import pytest

from convex_evals.config import ProjectConfig
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.setup import ready_service
from convex_evals.records import Outcome, Verdict
from convex_evals.suite.suite import load_suite
from tests.end_to_end.test_attacks import missing
from tests.factories import make_eval, write_files

pytestmark = pytest.mark.full

SECRET = "sk-planted-0123456789"
# Tells in its verdict what it got at.
GRADER = """
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";

const { suite, home, port, folders } = WORLD;
const found: string[] = [];
function tries(what: string, work: () => unknown): void {
  try {
    found.push(`${what}: ${String(work())}`);
  } catch {
    // Out of reach.
  }
}

for (const file of [".env", "runs/a/run.json", "reports/a.md", ".git/config"]) {
  tries(file, () => readFileSync(`${suite}/${file}`, "utf8"));
}
for (const file of ["notes.txt", ".ssh/id_ed25519"]) tries(file, () => readFileSync(`${home}/${file}`, "utf8"));
tries("home", () => execFileSync("cat", [`${home}/notes.txt`], { encoding: "utf8" }));
tries("environment", () => Object.values(process.env).find((text) => text?.includes("sk-planted"))!.length);
tries("parents", () => {
  const processes = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  const texts = processes.map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
  return texts.find((text) => text.includes("sk-planted"))!.length;
});
for (const folder of folders) {
  tries(`write ${folder}`, () => writeFileSync(`${folder}/planted.txt`, "x"));
  tries(`link ${folder}`, () => symlinkSync("/etc", `${folder}/planted`));
}

test("it reaches nothing", async () => {
  await new Promise<void>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => (found.push("port"), socket.destroy(), resolve()));
    socket.on("error", () => resolve());
  });
  expect(found).toEqual([]);
});
"""


def contents(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite with keys in it and beside it."""
    write_files(tmp_path / "home", {"notes.txt": SECRET, ".ssh/id_ed25519": SECRET})
    secrets = dict.fromkeys((".env", "runs/a/run.json", "reports/a.md", ".git/config"), SECRET)
    monkeypatch.setenv("PLANTED_API_KEY", SECRET)
    return write_files(tmp_path / "suite", secrets)


def verdict_at(level: Level, suite: Path, pipeline: str, folders: list[str]) -> Verdict:
    home = suite.with_name("home")
    own = [str(suite), str(suite / "evals"), str(home)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        world = {"suite": str(suite), "home": str(home), "port": port, "folders": [*own, *folders]}
        grader = f"const WORLD = {json.dumps(world)};\n{GRADER}"
        make_eval(suite, files={"grader.test.ts": grader, "eval.yaml": f"pipeline: {pipeline}\n"})
        return asyncio.run(grade(suite, level))


@pytest.mark.grading
@pytest.mark.parametrize("pipeline", ["full", "static"])
def test_a_grader_reaches_nothing_but_its_suite(pipeline: str, toolchain: Path, suite: Path) -> None:
    level = Level.LANDLOCK if missing(Level.STRICT) else Level.STRICT
    if reason := missing(level):
        pytest.skip(reason)
    verdict = verdict_at(level, suite, pipeline, ["/etc", "/usr"])
    assert verdict.outcome is Outcome.PASSED, verdict
    assert [path for path in contents(suite.parent) if "planted" in path] == []


@pytest.mark.grading
def test_without_a_sandbox_it_would(toolchain: Path, suite: Path) -> None:
    verdict = verdict_at(Level.NONE, suite, "static", [])
    found = "\n".join(test.message or "" for test in verdict.tests)
    for what in ("runs/a/run.json", "notes.txt", f"write {suite}", "port"):
        assert what in found


async def grade(suite: Path, level: Level) -> Verdict:
    ev = load_suite(suite).evals[0]
    containment = Containment(level)
    async with ready_service(suite, ProjectConfig(), 1, lambda *_: None, lambda _: None, containment) as service:
        return await service.grade(ev, ev.answer().files)
