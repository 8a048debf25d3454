"""Which sandbox is taken, what its probe finds, and what happens where none works."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.sandbox import probe as probe_module
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import Containment, own_code
from convex_evals.grading.sandbox.probe import Probe, probe
from convex_evals.grading.sandbox.seccomp import seccomp_program
from convex_evals.grading.toolchain import Toolchain
from tests import patience
from tests.conftest import ROOT
from tests.factories import make_eval

bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
STATIC = {
    "eval.yaml": "pipeline: static\n",
    "grader.test.ts": 'import { expect, test } from "vitest";\ntest("one", () => expect(1).toBe(1));\n',
}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(("own_network", "own_user"), [(True, True), (False, True), (False, False)])
def test_every_jump_of_a_filter_ends_inside_it(
    machine: str, own_network: bool, own_user: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    program = seccomp_program(own_network=own_network, own_user=own_user)
    code = list(struct.iter_unpack("HBBI", program))
    for at, (operation, on_true, on_false, _) in enumerate(code):
        if operation & 7 == 5:  # a jump
            assert max(on_true, on_false) + at + 1 < len(code)
    assert code[-1][0] == 6, "it must end with an answer"
    assert len(code) < 4096, "the kernel takes no more"


def test_a_machine_without_a_table_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(OSError, match="riscv64"):
        seccomp_program(own_network=True)


@bubblewrap
def test_the_strict_level_stops_all_that_a_probe_tries(tools: Toolchain, tmp_path: Path) -> None:
    found = asyncio.run(probe(Level.STRICT, tools, tmp_path))
    assert found.contains, found
    assert len(found.attacks) >= 10


def test_no_sandbox_stops_nothing(tools: Toolchain, tmp_path: Path) -> None:
    """The attacks of the probe are real ones. They hit a copy: other tests look whether the toolchain is changed."""
    own = replace(tools, sources=tmp_path / "toolchain" / "src" / "own")
    shutil.copytree(tools.sources / "sandbox", own.sources / "sandbox")
    found = asyncio.run(probe(Level.NONE, own, tmp_path))
    harmless = {"new namespaces"}  # the system may forbid them to everybody
    if os.getuid() != 0:
        harmless |= {"write to the toolchain"}
    stopped = [name for name, result in found.attacks.items() if result.startswith("stopped")]
    assert set(stopped) <= harmless
    assert not found.contains


def test_what_a_probe_found_is_remembered_until_the_machine_starts_again(
    tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacked = []

    async def attack(level: Level, _: Toolchain) -> Probe:
        attacked.append(level)
        return Probe(level, {"read": "stopped: EACCES"}, {"write": "ok"})

    monkeypatch.setattr(probe_module, "_attack", attack)
    first, second = (asyncio.run(probe(Level.STRICT, tools, tmp_path)) for _ in range(2))
    assert first == second
    assert attacked == [Level.STRICT]
    for file in (tmp_path / "sandbox").iterdir():
        file.write_text("{ torn")
    asyncio.run(probe(Level.STRICT, tools, tmp_path))
    assert len(attacked) == 2


@pytest.mark.parametrize(
    ("attacks", "needs", "summary"),
    [
        ({"read": "succeeded"}, {"write": "ok"}, "does not stop: read"),
        ({"read": "stopped"}, {"write": "EROFS"}, "write: EROFS"),
    ],
)
def test_a_level_that_does_not_contain_is_not_taken(
    attacks: dict[str, str],
    needs: dict[str, str],
    summary: str,
    tools: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def attack(level: Level, _: Toolchain) -> Probe:
        return Probe(level, attacks, needs)

    monkeypatch.setattr(probe_module, "_attack", attack)

    def choose(containment: Containment) -> Level:
        return asyncio.run(containment.choose(tools, tmp_path))

    with pytest.raises(UserError, match=summary):
        choose(Containment())
    with pytest.raises(UserError, match=f"--sandbox landlock: {summary}"):
        choose(Containment(Level.LANDLOCK))
    assert choose(Containment(unsafe=True)) is Level.NONE
    assert choose(own_code()) is Level.NONE

    asked: list[str] = []

    def confirm(problem: str, *, answer: bool) -> bool:
        asked.append(problem)
        return answer

    with pytest.raises(UserError, match=summary):
        choose(Containment(confirm=partial(confirm, answer=False)))
    agreed = Containment(confirm=partial(confirm, answer=True))
    assert [choose(agreed), choose(agreed)] == [Level.NONE] * 2
    assert len(asked) == 2 and all(summary in problem for problem in asked), "a yes is for the whole command"


def without_namespaces() -> list[str]:
    """What goes before a command so that it has no rights and cannot make user namespaces."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all "$@"'
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"user namespaces cannot be taken away for a test here: {tried.stderr.strip()}")
    return prefix


@pytest.mark.full
def test_without_namespaces_landlock_is_taken(toolchain: Path, tmp_path: Path) -> None:
    make_eval(tmp_path, files=STATIC)
    prefix = without_namespaces()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [*prefix, sys.executable, str(ROOT / "cli.py"), "run", "-m", "reference", *words]
        return subprocess.run(
            argv, cwd=tmp_path, capture_output=True, text=True, timeout=patience.seconds(120), check=False
        )

    insisted = run("--sandbox", "strict")
    assert insisted.returncode == 1
    assert "--sandbox strict: no user namespaces" in insisted.stderr

    # What goes without a sandbox where none works has one where one does.
    for words, expected in (([], ["landlock"]), (["--unsafe-no-sandbox", "--fresh"], ["landlock"] * 2)):
        done = run(*words)
        assert done.returncode == 0, done.stderr
        assert "sandbox" not in done.stdout.lower() + done.stderr
        assert levels(tmp_path) == expected


def levels(folder: Path) -> list[str]:
    return [json.loads(path.read_text())["sandbox"] for path in sorted((folder / "runs").rglob("grade*.json"))]


def test_one_of_the_two_options(tmp_path: Path) -> None:
    argv = [sys.executable, str(ROOT / "cli.py"), "run", "-m", "demo", "--sandbox", "strict", "--unsafe-no-sandbox"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=patience.seconds(60), check=False)
    assert done.returncode == 2
    assert "give only one of them" in done.stderr
