"""The whole way with the real toolchain: real backend, real vitest, real npm."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.grading.checker import Checker
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.toolchain import locate_toolchain
from convex_evals.records import FileRecord, GenerationFile, GradeFile, RunPlan, Summary
from convex_evals.store.records import read_record
from tests import patience
from tests.conftest import REAL_CACHE, ROOT, clean_environment
from tests.factories import GRADER, PACKAGE_JSON, make_eval, make_git_repo, write_files
from tests.processes import processes_with
from tests.provider import Provider, models_yaml, serve

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]
CLI = [sys.executable, str(ROOT / "cli.py")]


def cli(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLI, *arguments],
        cwd=cwd,
        env=clean_environment(**(env or {})),
        capture_output=True,
        text=True,
        timeout=patience.seconds(300),
        check=False,
    )


def validate(cwd: Path) -> dict[str, dict[str, Any]]:
    """Projects by label, after `cli validate --json`."""
    done = cli(cwd, "validate", "--json")
    assert done.returncode in (0, 4), done.stderr
    return {row["project"]: row for row in json.loads(done.stdout)["projects"]}


def files_below(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_run_writes_files_and_is_not_done_twice(tmp_path: Path) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {".gitignore": "runs/\n.cache/\n"})
    make_git_repo(tmp_path)
    first = cli(tmp_path, "run", "--model", "reference", env={"PLANTED_KEY": "sk-secret"})
    assert first.returncode == 0, first.stderr
    assert "100%" in first.stdout and "pass 000-fundamentals/000-answer" in first.stderr
    before = files_below(tmp_path / "runs")
    assert len(before) == 5
    (plan_path,) = (tmp_path / "runs").rglob("run.json")
    plan = read_record(plan_path, RunPlan)
    assert plan.model == "reference/answers" and plan.synthetic and plan.suite_commit
    folder = plan_path.parent
    assert (folder / "evals/000-fundamentals/000-answer/1.md").read_text().startswith("# Files\n")
    assert read_record(folder / "summary.json", Summary).counts.passed == 1
    assert not any(b"sk-secret" in data or str(tmp_path).encode() in data for data in before.values())
    assert list((tmp_path / ".cache/convex-evals/journal").iterdir()) == []
    second = cli(tmp_path, "run", "--model", "reference", "--json")
    assert second.returncode == 0 and json.loads(second.stdout)[0]["complete"] is True
    assert files_below(tmp_path / "runs") == before
    assert cli(tmp_path, "run", "--model", "reference", "--fresh").returncode == 0
    assert len(list((tmp_path / "runs").rglob("run.json"))) == 2


@pytest.mark.full
def test_what_init_lays_out_validates(tmp_path: Path) -> None:
    assert cli(tmp_path, "init", "new").returncode == 0
    assert cli(tmp_path / "new", "new-eval", "fundamentals", "next").returncode == 0
    done = cli(tmp_path / "new", "validate")
    assert done.returncode == 0 and "All verdicts are as expected." in done.stdout, done.stdout + done.stderr


@pytest.mark.full
def test_the_default_experiment_of_what_init_lays_out_runs(tmp_path: Path) -> None:
    assert cli(tmp_path, "init", "new").returncode == 0
    suite = tmp_path / "new"
    assert "openai/gpt-5" in cli(suite, "models", "list").stdout
    assert "OPENAI_API_KEY is not set" in cli(suite, "run", "-m", "gpt-5").stderr
    with serve(Provider(reply="There is nothing to write.\n")) as stub:
        write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=x\n"})
        done = cli(suite, "run", "-m", "stub/model", "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert found["experiment"] == "default" and found["summary"]["counts"]["failed"] == 1
    (body,) = stub.requests
    assert "# Convex guidelines" in body["messages"][0]["content"]


@pytest.mark.full
def test_codegen_writes_what_is_missing_and_tells_what_is_stale(tmp_path: Path) -> None:
    generated = make_eval(tmp_path) / "answer" / "convex" / "_generated"
    (generated / "old.ts").write_text("// from a module that is gone")
    checked = cli(tmp_path, "codegen", "--check", "--json")
    assert checked.returncode == 4
    (found,) = json.loads(checked.stdout)
    assert "convex/_generated/api.d.ts" in found["stale"] and found["surplus"] == ["convex/_generated/old.ts"]
    done = cli(tmp_path, "codegen")
    assert done.returncode == 0 and "000-fundamentals/000-answer: written:" in done.stdout
    assert not (generated / "old.ts").exists() and "main" in (generated / "api.d.ts").read_text()
    again = cli(tmp_path, "codegen", "--check")
    assert again.returncode == 0 and "1 of 1 up to date" in again.stdout


def test_codegen_of_an_answer_that_does_not_deploy(tmp_path: Path) -> None:
    make_eval(tmp_path, files={"answer/convex/main.ts": "export const x = ;"})
    done = cli(tmp_path, "codegen")
    assert done.returncode == 1 and "error: the answer of 000-fundamentals/000-answer does not deploy" in done.stderr


@pytest.mark.full
def test_another_suite_is_only_read(tmp_path: Path) -> None:
    make_eval(tmp_path / "suite")
    make_git_repo(tmp_path / "suite")
    here = tmp_path / "here"
    here.mkdir()
    before = files_below(tmp_path / "suite")
    done = cli(here, "-C", str(tmp_path / "suite"), "run", "-m", "reference", "--trials", "2")
    assert done.returncode == 0, done.stderr
    assert files_below(tmp_path / "suite") == before
    (grade,) = (here / "runs").rglob("grade.*.json")
    assert [t.trial for t in read_record(grade, GradeFile).trials] == [1, 2]


WRONG = {
    "install": {"package.json": json.dumps({"dependencies": {"convex": "file:/etc"}})},
    "deploy": {"convex/main.ts": "export const answer = query({});\n}"},
    "tsc": {
        "convex/main.ts": 'import { query } from "./_generated/server";\n'
        "export const answer = query({ args: {}, handler: async () => 42 });\nexport const wrong: number = 'text';\n"
    },
    "eslint": {
        "convex/main.ts": 'import { mutation, query } from "./_generated/server";\n'
        "export const answer = query({ args: {}, handler: async () => 42 });\n"
        "async function later() {}\nexport const floats = mutation({ args: {}, handler: async () => { later(); } });\n"
    },
    "tests": {
        "convex/main.ts": 'import { query } from "./_generated/server";\n'
        "export const answer = query({ args: {}, handler: async () => 41 });\n"
    },
}


def test_each_step_catches_its_mistakes(tmp_path: Path) -> None:
    folder = make_eval(tmp_path)
    for step, files in WRONG.items():
        write_files(folder / "wrong" / step, {**files, "reason.txt": f"Wrong.\ncaught by: {step}\n"})
    rows = validate(tmp_path)
    assert rows["answer"]["outcome"] == "passed", rows["answer"]
    for step in WRONG:
        row = rows[f"wrong/{step}"]
        assert (row["outcome"], row["caught_by"], row["as_expected"]) == ("failed", step, True), row
    assert "does not name a version in the registry" in rows["wrong/install"]["reason"]
    assert "convex/main.ts:2" in rows["wrong/deploy"]["reason"]
    assert "convex/main.ts:3:14 TS2322" in rows["wrong/tsc"]["reason"]
    assert "@typescript-eslint/no-floating-promises" in rows["wrong/eslint"]["reason"]
    assert "grader.test.ts:6" in rows["wrong/tests"]["reason"]


@pytest.mark.full
def test_what_is_off_ends_in_four(tmp_path: Path) -> None:
    folder = make_eval(tmp_path)
    write_files(
        folder / "wrong" / "survivor", {"convex/extra.ts": "export {};", "reason.txt": "Not wrong.\ncaught by: tests"}
    )
    write_files(
        folder / "wrong" / "elsewhere", {"convex/main.ts": "export const x = ;", "reason.txt": "x\ncaught by: tsc"}
    )
    write_files(folder / "accept" / "broken", {"convex/main.ts": "export const x = 1;", "reason.txt": "x"})
    done = cli(tmp_path, "validate")
    assert done.returncode == 4
    cells = next(line.split() for line in done.stdout.splitlines() if line.startswith("000-fundamentals/000-answer"))
    assert cells[1:5] == ["passed", "0/2", "0/1", "2/2"]
    assert "wrong/survivor: must not pass, and did; expected to be caught by tests" in done.stdout
    assert "wrong/elsewhere: caught by deploy, not by tsc as its reason.txt says" in done.stdout
    assert "accept/broken: must pass, failed at tests" in done.stdout


@pytest.mark.full
def test_type_errors_of_graders_are_told(tmp_path: Path) -> None:
    wrong = GRADER.replace("toBe(42)", "toBe(42 as Answer)")
    make_eval(tmp_path, files={"grader.test.ts": wrong})
    make_eval(tmp_path, "000-fundamentals/001-other")
    done = cli(tmp_path, "validate", "--no-wrong", "--repeat", "2", "--json")
    place = "evals/000-fundamentals/000-answer/grader.test.ts:6:62"
    data = json.loads(done.stdout)
    assert (done.returncode, data["clean"]) == (4, False)
    assert data["complaints"] == data["type_errors"] == [f"{place} TS2304: Cannot find name 'Answer'."]
    assert {(row["project"], row["as_expected"]) for row in data["projects"]} >= {("answer", True)}


@pytest.mark.full
def test_an_empty_project_fails(tmp_path: Path) -> None:
    folder = make_eval(tmp_path)
    for name, text in (("empty", None), ("manifest", PACKAGE_JSON)):
        files = {"reason.txt": "Nothing there.\ncaught by: deploy"} | ({"package.json": text} if text else {})
        write_files(folder / "wrong" / name, files)
    write_files(folder / "wrong" / "empty", {"delete.txt": "package.json\nconvex/main.ts"})
    rows = validate(tmp_path)
    assert rows["wrong/empty"]["caught_by"] == "filesystem"
    assert rows["wrong/manifest"]["outcome"] == "failed"


BROKEN = [
    ({"grader.test.ts": "import {"}, "grader.test.ts:1:9: ", "fix it"),
    ({"grader.test.ts": 'import "./gone";'}, "grader.test.ts:1:8: Could not resolve", "fix it"),
]


@pytest.mark.parametrize(("files", "where", "advice"), BROKEN)
def test_broken_graders_are_found_first(files: dict[str, str | None], where: str, advice: str, tmp_path: Path) -> None:
    make_eval(tmp_path, files=files)
    refused = cli(tmp_path, "run", "-m", "reference")
    errors = [line for line in refused.stderr.splitlines() if line.startswith("error:")]
    told = cli(tmp_path, "validate")
    broken = [line for line in told.stdout.splitlines() if "cannot be graded" in line]
    assert (refused.returncode, told.returncode) == (1, 4)
    for [line] in (errors, broken):
        assert where in line and advice in line
    assert not (tmp_path / "runs").exists()


def test_answers_that_do_not_deploy_or_install(tmp_path: Path) -> None:
    make_eval(tmp_path, "000-a/000-deploy", {"answer/convex/main.ts": "export const x = ;"})
    make_eval(tmp_path, "000-a/001-package", {"answer/package.json": "{", "grader.test.ts": 'import "vitest";'})
    done = cli(tmp_path, "run", "-m", "reference", "--fail-on-failure")
    assert done.returncode == 4
    lines = [line for line in done.stderr.splitlines() if line.startswith("FAIL")]
    assert len(lines) == 2 and "Traceback" not in done.stderr
    assert any("deploy: " in line and "convex/main.ts:1" in line for line in lines), lines
    assert any("install: package.json: not valid JSON" in line for line in lines), lines


def test_an_unreadable_manifest_of_the_suite(tmp_path: Path) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"package.json": "{"})
    done = cli(tmp_path, "validate")
    assert done.returncode == 1 and f"error: {tmp_path}/package.json:1: not valid JSON" in done.stderr


@pytest.mark.full
def test_no_network_at_the_first_install(tmp_path: Path) -> None:
    make_eval(tmp_path)
    env = {
        "CONVEX_EVALS_CACHE": str(tmp_path / "cache"),
        "npm_config_cache": str(tmp_path / "npm"),
        "npm_config_registry": "http://127.0.0.1:9/",
    }
    done = cli(tmp_path, "validate", env=env)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert (
        done.returncode == 1
        and "the npm registry cannot be reached (ECONNREFUSED); connect to the network once" in line
    )
    assert not [p for p in (tmp_path / "cache" / "toolchain").iterdir() if p.is_dir()]


@pytest.mark.full
def test_an_interrupted_install_does_not_look_complete(tmp_path: Path) -> None:
    env = clean_environment(CONVEX_EVALS_CACHE=str(tmp_path / "cache"))
    argv = [*CLI, "doctor", "--install"]
    process = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list((tmp_path / "cache").glob("toolchain/*.tmp-*/node_modules/typescript/lib/typescript.js")):
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    folders = [p for p in (tmp_path / "cache" / "toolchain").iterdir() if p.is_dir()]
    assert all(".tmp-" in p.name for p in folders)
    again = cli(tmp_path, "doctor", "--install", env={"CONVEX_EVALS_CACHE": str(tmp_path / "cache")})
    assert again.returncode == 0 and "graded a canary project" in again.stdout, again.stderr
    assert not list((tmp_path / "cache" / "toolchain").glob("*.tmp-*"))


def namespaced(script: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with mounts of its own."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs `unshare -rm` (user and mount namespaces)")
    argv = ["unshare", "-rm", "sh", "-ec", script]
    return subprocess.run(
        argv,
        cwd=cwd,
        env=clean_environment(**env),
        capture_output=True,
        text=True,
        timeout=patience.seconds(300),
        check=False,
    )


@pytest.mark.full
def test_a_full_disk_in_the_cache(tmp_path: Path) -> None:
    make_eval(tmp_path)
    (tmp_path / "cache").mkdir()
    mount = "mount -t tmpfs -o size=20m,mode=755 tmpfs cache"
    script = f"{mount}; {' '.join(CLI)} validate || s=$?; ls cache/toolchain; exit $s"
    done = namespaced(script, tmp_path, CONVEX_EVALS_CACHE=str(tmp_path / "cache"))
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert done.returncode == 1 and "the disk is full; free some space" in line, done.stderr
    assert [name for name in done.stdout.split() if not name.endswith(".lock")] == []


def test_a_read_only_runs_folder(tmp_path: Path) -> None:
    make_eval(tmp_path)
    (tmp_path / "runs").mkdir()
    done = namespaced(f"mount -t tmpfs -o ro tmpfs runs; {' '.join(CLI)} run -m reference", tmp_path)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert done.returncode == 1 and "cannot write" in line and "the file system is read-only; choose another" in line


@pytest.mark.full
def test_two_first_runs_at_the_same_time(tmp_path: Path) -> None:
    """Packages that nobody has installed yet, wanted by two processes at once."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "toolchain").symlink_to(REAL_CACHE / "toolchain")
    make_eval(tmp_path)
    argv, env = [*CLI, "validate", "--no-wrong", "--json"], clean_environment(CONVEX_EVALS_CACHE=str(cache))
    both = [subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, _ = process.communicate(timeout=patience.seconds(300))
        assert process.returncode == 0 and json.loads(out)["clean"]
    assert not list((cache / "packages").glob("*.tmp-*"))


@pytest.fixture
def marked_tmp(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder whose path marks every process that works in it."""
    folder = tmp_path / "marked"
    folder.mkdir()
    yield folder
    for pid in processes_with(str(folder)):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.full
def test_kill_minus_nine_at_any_moment(tmp_path: Path, marked_tmp: Path, soak: bool) -> None:
    kills, evals = (20, 30) if soak else (4, 6)
    for number in range(evals):
        make_eval(tmp_path, f"000-a/{number:03}-x", {"TASK.txt": f"Number {number}\n"})
    env = clean_environment(TMPDIR=str(marked_tmp))
    randomness = random.Random(7)
    done_before: dict[str, bytes] = {}
    for _ in range(kills):
        process = subprocess.Popen([*CLI, "run", "-m", "reference"], cwd=tmp_path, env=env, stderr=subprocess.DEVNULL)
        time.sleep(randomness.uniform(0.2, 5))
        process.kill()
        process.wait()
        end = time.monotonic() + patience.seconds(5)
        while processes_with(str(marked_tmp)) and time.monotonic() < end:
            time.sleep(0.1)
        assert processes_with(str(marked_tmp)) == []
        files = files_below(tmp_path / "runs")
        check_whole(tmp_path / "runs")
        assert done_before.items() <= files.items()
        done_before = files
    last = cli(tmp_path, "run", "-m", "reference", env={"TMPDIR": str(marked_tmp)})
    assert last.returncode == 0, last.stderr
    assert done_before.items() <= files_below(tmp_path / "runs").items()
    assert len(list((tmp_path / "runs").rglob("run.json"))) == 1
    (summary,) = (tmp_path / "runs").rglob("summary.json")
    assert read_record(summary, Summary).counts.passed == evals
    assert list(marked_tmp.iterdir()) == []


def check_whole(runs: Path) -> None:
    """Every file below `runs` is complete."""
    models: dict[str, type[FileRecord]] = {
        "run.json": RunPlan,
        "generation.json": GenerationFile,
        "summary.json": Summary,
    }
    for path in runs.rglob("*"):
        if path.suffix == ".json":
            read_record(path, models.get(path.name, GradeFile))
        elif path.is_file():
            assert path.name == "1.md" and path.read_text().endswith("```\n")


@pytest.mark.full
def test_interrupting_says_so_and_goes_on(tmp_path: Path, marked_tmp: Path) -> None:
    make_eval(tmp_path)
    env = clean_environment(TMPDIR=str(marked_tmp))
    process = subprocess.Popen(
        [*CLI, "run", "-m", "reference"], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True
    )
    while not list(marked_tmp.glob("convex-evals-*/trial-*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=patience.seconds(20))
    assert process.returncode == 130 and "Traceback" not in err
    assert "stopped; the same command resumes it" in err and err.endswith("interrupted\n")
    assert processes_with(str(marked_tmp)) == [] and list(marked_tmp.iterdir()) == []
    assert cli(tmp_path, "run", "-m", "reference").returncode == 0


@pytest.mark.full
def test_a_project_that_ends_its_own_process(tmp_path: Path) -> None:
    """It is refused: the backend is another process."""
    code = """"use node";
import { action } from "./_generated/server";
process.exit(0);
export const answer = action({ args: {}, handler: async () => 42 });
"""
    folder = make_eval(tmp_path, files={"grader.test.ts": GRADER.replace("client.query", "client.action")})
    shutil.rmtree(folder / "answer" / "convex" / "_generated")
    write_files(
        folder / "answer" / "convex" / "_generated", {"api.js": 'export { anyApi as api } from "convex/server";'}
    )
    write_files(folder / "wrong" / "exits", {"convex/main.ts": code, "reason.txt": "Exits.\ncaught by: deploy"})
    row = validate(tmp_path)["wrong/exits"]
    assert (row["outcome"], row["caught_by"]) == ("failed", "deploy")
    assert "the Node.js process of the app ended with status 0" in row["reason"]


def test_static_evals_need_no_backend(tmp_path: Path) -> None:
    grader = """import fs from "node:fs";
import { expect, test } from "vitest";
test("file", () => {
  expect(process.env.CONVEX_PORT).toBe(undefined);
  expect(fs.readFileSync(`${process.env.MODEL_OUTPUT_DIR}/convex/main.ts`, "utf8")).toContain("42");
});
"""
    make_eval(tmp_path, files={"eval.json": '{"pipeline": "static"}', "grader.test.ts": grader})
    assert validate(tmp_path)["answer"]["outcome"] == "passed"


def test_a_heavy_checker_is_replaced(toolchain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def pids() -> list[list[int]]:
        found = []
        tools = locate_toolchain(toolchain)
        async with (
            open_sandbox(Level.NONE, tools, tmp_path) as sandbox,
            Checker(tools, sandbox, tmp_path, tmp_path) as checker,
        ):
            for limit in (100_000, 100_000, 1, 100_000):
                monkeypatch.setattr("convex_evals.grading.checker._RECYCLED_AT_MIB", limit)
                await checker.request("versions", timeout=60)
                found.append(processes_with(str(tmp_path)))
        return found

    first, second, third, fourth = asyncio.run(pids())
    assert first == second != [] and third == [] and fourth not in ([], first)
