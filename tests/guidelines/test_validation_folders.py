"""What `cli validate-guidelines` leaves behind: a folder a model, which no list of runs sees, delivered as a whole."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import command
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, make_run, write_files
from tests.provider import Provider, serve
from tests.wire import question

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

FILE = "guidelines/convex.md"
TEN = [f"000-first/{n:03}-eval" for n in range(10)]
ONE = "# Rules\n\n- Be brief.\n"
TWO = ONE.replace("brief", "short")
GRADER = """import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
test("the word is right", () => {
  expect(readFileSync(`${process.env.MODEL_OUTPUT_DIR}/word.ts`, "utf8")).toContain("right");
});
"""
REPLY = "# Files\n\n## package.json\n\n```json\n{}\n```\n\n## word.ts\n\n```ts\nexport const word = 'right';\n```\n"


class Models:
    """With new guidelines, `one` always passes eval 0, and passes evals 1 to 5 less often. `two` is lucky once."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, bool, int]] = Counter()

    def __call__(self, body: dict[str, Any]) -> str:
        name, new = body["model"], "short" in json.dumps(body["messages"])
        task = int(re.search(r"\d+", question(body))[0])  # type: ignore[index]
        self.asked[name, new, task] += 1
        n = self.asked[name, new, task]
        if name == "two":
            passes = new and task == 9 and n == 1
        elif task == 0:
            passes = new
        else:
            passes = 1 <= task <= 5 and (n in (3, 7)) == new
        return REPLY if passes else "There is nothing to write.\n"


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
def suite(tmp_path: Path, models: Models) -> Iterator[Path]:
    """Ten evals, two models, a remote, and a run of each model."""
    with serve(Provider(answer=models)) as stub:
        for n, eval_id in enumerate(TEN):
            files = {"TASK.txt": f"Task {n}.\n", "eval.yaml": "pipeline: static\n", "grader.test.ts": GRADER}
            make_eval(tmp_path / "suite", eval_id, files)
        listed = "".join(
            f"  - {{slug: stub/{name}, litellm: openai/{name}, base_url: '{stub.url}', key_env: STUB_KEY,"
            " price: {input: 10, output: 100}}\n"
            for name in ("one", "two")
        )
        files = {
            FILE: ONE,
            ".gitignore": ".cache\n.env\n",
            ".env": "STUB_KEY=key\n",
            "models.yaml": f"models:\n{listed}",
        }
        for name in ("one", "two"):
            runs = tmp_path / "suite" / "runs"
            make_run(runs, dict.fromkeys(TEN, "p"), model=f"stub/{name}", run_id=f"default-{name}")
        suite = make_git_repo(write_files(tmp_path / "suite", files))
        git(tmp_path, "clone", "-q", "--bare", str(suite), "origin.git")
        git(suite, "remote", "add", "origin", str(tmp_path / "origin.git"))
        git(suite, "config", "user.name", "Test")
        git(suite, "config", "user.email", "test@example.org")
        yield write_files(suite, {FILE: TWO})


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


LISTS = [
    *(["list", *form] for form in ([], ["--json"], ["-m", "stub/one"])),
    *(["history", "-m", f"stub/{name}"] for name in ("one", "two")),
    ["show", "last"],
    ["leaderboard", "--json"],
    ["matrix", "--json"],
    ["status"],
]


def test_one_folder_a_model_and_no_list_of_runs_sees_it(suite: Path, models: Models, invoke: Invoke) -> None:
    def lists() -> list[str]:
        return [(result := invoke(*words, cwd=suite)).out + result.err for words in LISTS]

    def folders() -> set[str]:
        return {path.relative_to(suite / "runs").as_posix() for path in (suite / "runs").glob("*/*/*/*")}

    before, there = lists(), folders()
    words = ["validate-guidelines", "HEAD", "-m", "stub/one", "-m", "two", "--trials", "1", "-y"]
    done = command(suite, *words, "--commit", "--push", "--fail-on-regression")
    # Points are lost as a whole, though one eval surely gained: mixed, and a regression all the same.
    assert done.returncode == 4, done.stdout + done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("stub/one: mixed"))
    assert line.startswith("stub/one: mixed: -20.0 points (95 % interval -")
    assert line.endswith(
        f"6 of 10 evals flipped, 1 confirmed better, 0 worse; it rests on all of them together 40/60 -> 20/60 "
        f"(p 0.003), worse; {TEN[0]} 0/10 -> 10/10 (p <0.001), better"
    )
    assert lists() == before
    found = json.loads(invoke("leaderboard", "--all", "--json", cwd=suite).out)["unranked"]
    assert {each["model"] for each in found if each["reason"] == "made by validate-guidelines"} == {
        "stub/one",
        "stub/two",
    }
    new = sorted(folders() - there)
    assert len(new) == 2 and all(re.fullmatch(r"stub/(one|two)/[\d-]+/validation-[0-9a-f]{12}", name) for name in new)
    assert_committed(suite, done.stdout, new)

    asked = models.asked.total()
    assert asked == 2 * 2 * 10 + 20 * 7
    # The same command asks for nothing, and changes nothing; a run uses the replies again.
    again = command(suite, *words, "--commit", "--push")
    assert again.returncode == 0 and "Nothing to commit to main" in again.stdout
    assert command(suite, "run", "-m", "stub/one").returncode == 0 and models.asked.total() == asked
    assert lists() != before and len(folders() - there) == 3
    # A run of it is shown by its folder. One that began on an earlier day is found again.
    first = next((suite / "runs" / "stub" / "two").glob("*/validation-*/confirm-*-01"))
    assert invoke("show", first, cwd=suite).status == 0
    earlier = suite / "runs" / "stub" / "one" / "2026-01-01"
    earlier.mkdir()
    (suite / "runs" / new[0]).rename(earlier / new[0].rpartition("/")[2])
    assert command(suite, *words).returncode == 0 and models.asked.total() == asked
    assert_shown(suite)


def assert_shown(suite: Path) -> None:
    """By `diff-guidelines`, which has nothing to compare by itself."""
    found = json.loads(command(suite, "diff-guidelines", "HEAD", "--json").stdout)
    assert [(c["model"], c["verdict"]) for c in found["confirmed"]] == [
        ("stub/one", "mixed"),
        ("stub/two", "underpowered"),
    ]
    assert found["regressed"] and command(suite, "diff-guidelines", "HEAD", "--fail-on-regression").returncode == 4


def assert_committed(suite: Path, out: str, new: list[str]) -> None:
    """All of the validation is at the remote, and nothing else."""
    assert "Pushed to origin/main" in out
    origin = suite.parent / "origin.git"
    message = git(origin, "log", "-1", "--format=%B", "main")
    assert re.match(
        r"chore\(runs\): validate guidelines [0-9a-f]{8}\.\.[0-9a-f]{8}, 2 models: mixed, underpowered\n", message
    )
    paths = git(origin, "diff", "--name-only", "main~1", "main").splitlines()
    assert all(path.startswith(tuple(f"runs/{name}/" for name in new)) for path in paths)
    assert {f"runs/{name}/validation.json" for name in new} < set(paths)
    assert git(suite, "status", "--short") == f"M {FILE}"
