"""Every command that runs code of a suite or a model, on a machine where no sandbox works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from convex_evals.cli.app import COMMANDS, LazyGroup, cli
from tests import patience
from tests.conftest import ROOT, clean_environment
from tests.factories import make_eval, make_git_repo
from tests.terminal import CTRL_C, ENTER, terminal

pytestmark = pytest.mark.full
Cli = Callable[..., subprocess.CompletedProcess[str]]
# What every program is made of here has no landlock_create_ruleset (444 on all machines): it answers ENOSYS (38).
NO_LANDLOCK = """
import ctypes, os, struct, sys
code = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 444, 6, 0, 0, 0x50000 | 38, 6, 0, 0, 0x7FFF0000)
held = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(held)))
libc = ctypes.CDLL(None, use_errno=True)
for words in ((38, 1, 0, 0, 0), (22, 2, program, 0, 0)):
    if libc.prctl(words[0], *(word if word is program else ctypes.c_ulong(word) for word in words[1:])):
        raise OSError(ctypes.get_errno(), "prctl")
os.execvp(sys.argv[1], sys.argv[1:])
"""
WITHOUT_LANDLOCK = [sys.executable, "-c", NO_LANDLOCK]
SANDBOXES = {"bwrap", "podman", "docker"}
ASK = "Run it without a sandbox?"
FIRST = "warning: no sandbox: the code that runs now can read, change and send whatever you can"
LAST = "warning: this ran code without a sandbox, which could read, change and send whatever you can"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH of everything but sandboxes."""
    folder = tmp_path_factory.mktemp("bin")
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in SANDBOXES and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    return str(folder)


@pytest.fixture
def suite(tmp_path: Path, toolchain: Path) -> Path:
    """One whose grader leaves a mark on the machine."""
    mark = json.dumps(str(tmp_path / "marks" / "grader"))
    grader = f'import {{ appendFileSync }} from "node:fs";\nappendFileSync({mark}, "here\\n");\n'
    files = {
        "eval.yaml": "pipeline: static\n",
        "grader.test.ts": grader + 'import { expect, test } from "vitest";\ntest("one", () => expect(1).toBe(1));\n',
    }
    folder = tmp_path / "suite"
    make_eval(folder, files=files)
    (folder / "guidelines").mkdir()
    (folder / "guidelines" / "convex.md").write_text("Return what is asked for.\n")
    return make_git_repo(folder)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


@pytest.fixture
def bare(suite: Path, path: str, marks: Path) -> Cli:
    """A command where no sandbox works."""

    def run(*words: str, cwd: Path = suite) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*WITHOUT_LANDLOCK, sys.executable, str(ROOT / "cli.py"), *words],
            cwd=cwd,
            env=clean_environment(PATH=path),
            capture_output=True,
            text=True,
            timeout=patience.seconds(120),
            check=False,
        )

    return run


def refused(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "no sandbox works here (strict: bwrap is not on PATH" in error
    assert "apt-get install bubblewrap" in error and "--unsafe-no-sandbox" in error


def test_validate_and_codegen_run_nothing_on_the_machine(bare: Cli, marks: Path, suite: Path, tmp_path: Path) -> None:
    for words in (["validate"], ["-C", str(suite), "validate"]):
        refused(bare(*words))
    subprocess.run(["git", "clone", "-q", str(suite), str(tmp_path / "clone")], check=True)
    refused(bare("validate", cwd=tmp_path / "clone"))
    assert not list(marks.iterdir())

    unsafe = bare("validate", "--unsafe-no-sandbox")
    assert (marks / "grader").exists(), unsafe.stderr
    assert told(unsafe) == [FIRST, LAST]
    assert unsafe.stderr.splitlines()[-1] == LAST
    next(suite.rglob("eval.yaml")).write_text("pipeline: full\n")  # others need no generated code
    refused(bare("codegen", "--check"))
    assert told(bare("codegen", "--check", "--unsafe-no-sandbox")) == [FIRST, LAST]


def test_runs_say_that_they_had_none_and_reused_verdicts_say_nothing(bare: Cli, marks: Path, suite: Path) -> None:
    reply = suite / "replies" / "000-fundamentals" / "000-answer" / "1.md"
    reply.parent.mkdir(parents=True)
    reply.write_text("# convex/main.ts\n\n```ts\nexport const a = 1;\n```\n")
    for model in ("reference", f"replay:{suite / 'replies'}"):
        for words in ([], ["-C", str(suite)]):
            refused(bare(*words, "run", "-m", model))
    assert not list(marks.iterdir())

    first = bare("run", "-m", "reference", "--unsafe-no-sandbox")
    assert first.returncode == 0, first.stderr
    lines = first.stderr.splitlines()
    assert told(first) == [FIRST, LAST] and lines[-1] == LAST
    assert lines.index(FIRST) < next(n for n, line in enumerate(lines) if line.startswith("pass "))
    (marks / "grader").unlink()

    again = bare("run", "-m", "reference", "--unsafe-no-sandbox")
    assert again.returncode == 0 and told(again) == [] and "sandbox" not in again.stdout.lower()
    regraded = bare("regrade", "last", "--unsafe-no-sandbox")
    assert regraded.returncode == 0 and told(regraded) == []
    assert not list(marks.iterdir())


def test_what_runs_nothing_needs_none(bare: Cli) -> None:
    for words in (["plan", "-m", "reference"], ["run", "-m", "reference", "--only", "ask"]):
        done = bare(*words)
        assert done.returncode == 0, done.stderr
        assert told(done) == []


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if "sandbox" in line]


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 1), (ENTER, 1), (CTRL_C, 130)])
def test_at_a_terminal_the_person_decides(suite: Path, path: str, marks: Path, answer: str, status: int) -> None:
    with terminal(suite, "-m", "reference", before=WITHOUT_LANDLOCK, PATH=path) as shell:
        shell.wait_for(ASK)
        shell.type(answer, *([] if answer in (ENTER, CTRL_C) else [ENTER]))
        assert shell.end() == status
    assert (marks / "grader").exists() == (status == 0)
    assert (FIRST in shell.output, LAST in shell.output) == ((True, True) if status == 0 else (False, False))


def test_every_command_that_runs_code_has_the_options() -> None:
    """Those that grade take the service that does it, or the work that does."""
    assert isinstance(cli, LazyGroup)
    graders = {"run", "validate", "validate-guidelines", "regrade", "codegen", "diff-guidelines"}
    ctx = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(ctx, name)
        assert command is not None
        options = {option for parameter in command.params for option in parameter.opts}
        assert ({"--sandbox", "--unsafe-no-sandbox"} <= options) == (name in graders), name
