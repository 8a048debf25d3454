"""Containers: the second choice, without rights, and gone with their command."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convex_evals.grading.health import inspect_sandboxes
from convex_evals.grading.sandbox import probe as probe_module
from convex_evals.grading.sandbox.base import Launch, Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.sandbox.probe import Probe, probe
from convex_evals.grading.toolchain import Toolchain
from tests import patience
from tests.conftest import ROOT
from tests.processes import processes_with


@pytest.mark.parametrize(
    ("working", "taken", "statuses"),
    [
        ({Level.CONTAINER, Level.LANDLOCK}, Level.CONTAINER, ("absent", "ok", "ok")),
        ({Level.LANDLOCK}, Level.LANDLOCK, ("absent", "ok", "absent")),
    ],
)
def test_a_container_is_the_second_choice_and_landlock_the_third(
    working: set[Level],
    taken: Level,
    statuses: tuple[str, ...],
    tools: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def attack(level: Level, _: Toolchain) -> Probe:
        return Probe(level, {"read": "stopped" if level in working else "succeeded"}, {})

    monkeypatch.setattr(probe_module, "_attack", attack)
    assert asyncio.run(Containment().choose(tools, tmp_path)) is taken
    monkeypatch.setattr("convex_evals.grading.health.locate_toolchain", lambda _: tools)
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path))
    found = {finding.part: finding.status for finding in asyncio.run(inspect_sandboxes())}
    assert found.pop("limits") in ("ok", "absent")
    names = ("sandbox strict", "sandbox landlock", "sandbox container")
    assert found == dict(zip(names, statuses, strict=True))


@pytest.mark.parametrize(
    ("scripts", "variable", "platform", "problem"),
    [
        ({}, None, "linux", "podman and docker: not on PATH (Debian"),
        ({}, "docker", "linux", "docker: not on PATH"),
        ({}, "lxc", "linux", "CONVEX_EVALS_CONTAINER_ENGINE=lxc: it must be podman or docker"),
        ({"podman": "echo Error: no luck >&2; exit 125"}, None, "linux", "podman: no luck"),
        ({"podman": "exit 0"}, None, "linux", "podman: no message"),
        ({"podman": "exit 1", "docker": "echo no daemon >&2; exit 1"}, None, "linux", "; docker: "),
        ({"podman": "exit 0"}, None, "darwin", "so this must be Linux"),
    ],
)
def test_why_there_is_no_container(
    scripts: dict[str, str],
    variable: str | None,
    platform: str,
    problem: str,
    tools: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("convex_evals.grading.sandbox.container.sys.platform", platform)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("CONVEX_EVALS_CONTAINER_ENGINE", variable or "")
    found = asyncio.run(probe(Level.CONTAINER, tools, tmp_path))
    assert problem in found.summary
    assert "\n" not in found.summary
    assert not (tmp_path / "sandbox").exists(), "what may be mended is asked for again"


CONTAINED = f"""
import asyncio, signal, sys, tempfile
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from convex_evals.config import cache_dir
from convex_evals.grading.sandbox.base import Launch, Level
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.scratch import scratch_folder
from convex_evals.grading.toolchain import locate_toolchain

async def main():
    with scratch_folder() as folder:
        async with open_sandbox(Level.CONTAINER, locate_toolchain(cache_dir()), folder) as sandbox:
            own = Path(tempfile.mkdtemp(dir=folder))
            program = "trap '' TERM HUP INT; sleep 600 & echo; sleep 600"
            launch = Launch(["/bin/sh", "-c", program], own, {{"MARK": str(own)}}, writable=[own], capture=True)
            child = await sandbox.launch(launch)
            await child.stdout.readline()
            print(folder, flush=True)
            await child.wait()

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
asyncio.run(main())
"""


@pytest.fixture
def engines(tools: Toolchain, tmp_path: Path) -> list[str]:
    """What starts containers here; the level works."""
    found = asyncio.run(probe(Level.CONTAINER, tools, tmp_path))
    if found.problem:
        pytest.skip(f"no container can be started here: {found.problem}")
    assert found.contains, found
    return [name for name in ("podman", "docker") if shutil.which(name)]


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_no_container_outlives_its_command(ending: signal.Signals, engines: list[str]) -> None:
    argv = [sys.executable, "-c", CONTAINED]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        try:
            assert parent.stdout is not None
            folder = parent.stdout.readline().decode().strip()
            assert len(processes_with(folder)) >= 3, "two programs, and the engine that has the folder mounted"
            parent.send_signal(ending)
            parent.wait(patience.seconds(20))
        finally:
            parent.kill()
    deadline = time.monotonic() + patience.seconds(5)
    while (left := processes_with(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
    for engine in engines:
        argv = [engine, "ps", "--all", "--filter=label=convex-evals", f"--filter=volume={folder}", "--quiet"]
        listed = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert listed.stdout == ""
    if ending is signal.SIGINT:
        assert not Path(folder).exists()


def test_what_is_launched_in_a_container_has_no_rights_and_the_engine_no_keys(
    engines: list[str], tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-that-nobody-may-see")
    monkeypatch.setenv("HTTP_PROXY", "http://user:a-secret-that-nobody-may-see@127.0.0.1:1")
    tmp_path.chmod(0o755)
    (work := tmp_path / "work").mkdir()
    look = ["/bin/grep", "Cap", "/proc/self/status"]

    async def see(launch: Launch) -> str:
        async with open_sandbox(Level.CONTAINER, tools, tmp_path) as sandbox:
            child = await sandbox.launch(launch)
            async with child:
                assert child.stdout
                known = [Path(f"/proc/{pid}/environ").read_bytes() for pid in processes_with(str(tmp_path))]
                assert known and not [found for found in known if b"a-secret" in found]
                return (await child.stdout.read()).decode()

    projects = Launch(look, work, {}, writable=[work], capture=True)
    ours = Launch(look, work, {}, shared=[work], capture=True)
    for launch in (projects, ours):
        said = asyncio.run(see(launch))
        rights = dict(line.split() for line in said.splitlines())
        assert {rights["CapPrm:"], rights["CapEff:"], rights["CapAmb:"]} == {"0" * 16}
