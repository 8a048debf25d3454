"""How a level of containment is found, insisted on and gone without. What levels stop is in test_attacks.py."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convex_evals.errors import ProcessFault, UserError
from convex_evals.grading.health import inspect_sandboxes
from convex_evals.grading.sandbox import probe as probe_module
from convex_evals.grading.sandbox.base import Launch, Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.sandbox.probe import Probe, probe
from convex_evals.grading.sandbox.processors import running_on, shares
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.grading.sandbox.seccomp import seccomp_program
from convex_evals.grading.toolchain import Toolchain, locate_toolchain
from tests.conftest import ROOT
from tests.factories import make_eval
from tests.processes import processes_with

bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
REPLY = "# convex/main.ts\n\n```ts\nexport const a = 1;\n```\n"
STATIC = {
    "eval.yaml": "pipeline: static\n",
    "grader.test.ts": 'import { expect, test } from "vitest";\ntest("one", () => expect(1).toBe(1));\n',
}


@pytest.fixture
def tools(toolchain: Path) -> Toolchain:
    return locate_toolchain(toolchain)


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
    """The attacks of the probe are real ones."""
    found = asyncio.run(probe(Level.NONE, tools, tmp_path))
    harmless = {"new namespaces"}  # the system may forbid them to everybody
    if os.getuid() != 0:
        harmless |= {"write to the toolchain"}
    stopped = [name for name, result in found.attacks.items() if result.startswith("stopped")]
    assert set(stopped) <= harmless
    assert not found.contains
    (tools.sources / "sandbox" / "probe.ts").write_text((ROOT / "convex_evals/node/sandbox/probe.ts").read_text())


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


def test_a_container_is_the_second_choice(tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The landlock level contains as well as the probe can tell, and is not taken."""

    async def attack(level: Level, _: Toolchain) -> Probe:
        return Probe(level, {"read": "stopped" if level is not Level.STRICT else "succeeded"}, {})

    monkeypatch.setattr(probe_module, "_attack", attack)
    assert asyncio.run(Containment().choose(tools, tmp_path, lambda _: None)) is Level.CONTAINER
    monkeypatch.setattr("convex_evals.grading.health.locate_toolchain", lambda _: tools)
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path))
    statuses = {finding.part: finding.status for finding in asyncio.run(inspect_sandboxes())}
    assert statuses.pop("limits") in ("ok", "absent")
    assert statuses == {"sandbox strict": "absent", "sandbox landlock": "ok", "sandbox container": "ok"}


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
        return asyncio.run(containment.choose(tools, tmp_path, lambda _: None))

    with pytest.raises(UserError, match=summary):
        choose(Containment())
    with pytest.raises(UserError, match=f"--sandbox landlock: {summary}"):
        choose(Containment(Level.LANDLOCK))
    assert choose(Containment(reviewed=True)) is Level.NONE
    assert choose(Containment(unsafe=True)) is Level.NONE


def without_namespaces() -> list[str]:
    """What goes before a command so that it has no rights and cannot make user namespaces."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all "$@"'
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"user namespaces cannot be taken away for a test here: {tried.stderr.strip()}")
    return prefix


@pytest.mark.full
def test_without_namespaces_model_written_code_is_refused(toolchain: Path, tmp_path: Path) -> None:
    suite, replies = tmp_path / "suite", tmp_path / "replies" / "000-fundamentals" / "000-answer"
    make_eval(suite, files=STATIC)
    replies.mkdir(parents=True)
    (replies / "1.md").write_text(REPLY)
    prefix = without_namespaces()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [*prefix, sys.executable, str(ROOT / "cli.py"), "-C", str(suite), "run", *words]
        return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    model = f"replay:{tmp_path / 'replies'}"
    refused = run("-m", model)
    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "no sandbox works here (strict: no user namespaces" in refused.stderr
    assert "--unsafe-no-sandbox" in refused.stderr
    assert not list(tmp_path.rglob("grade*.json"))

    insisted = run("-m", model, "--sandbox", "strict")
    assert insisted.returncode == 1
    assert "--sandbox strict: no user namespaces" in insisted.stderr

    unsafe = run("-m", model, "--unsafe-no-sandbox")
    assert unsafe.returncode == 0, unsafe.stderr
    assert "runs without a sandbox" in unsafe.stderr
    assert "Sandbox: none" in unsafe.stdout
    assert levels(tmp_path) == ["none"]

    # Nobody here has read somebody else's suite.
    foreign = run("-m", "reference")
    assert foreign.returncode == 1 and "no sandbox works here" in foreign.stderr

    argv = [*prefix, sys.executable, str(ROOT / "cli.py"), "run", "-m", "reference"]
    reviewed = subprocess.run(argv, cwd=suite, capture_output=True, text=True, timeout=120, check=False)
    assert reviewed.returncode == 0, reviewed.stderr
    assert levels(suite) == ["none"]


def levels(folder: Path) -> list[str]:
    return [json.loads(path.read_text())["sandbox"] for path in sorted((folder / "runs").rglob("grade*.json"))]


def test_one_of_the_two_options(tmp_path: Path) -> None:
    argv = [sys.executable, str(ROOT / "cli.py"), "run", "-m", "demo", "--sandbox", "strict", "--unsafe-no-sandbox"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "give only one of them" in done.stderr


PARENT = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.request import LaunchRequest

async def main():
    async with open_launcher() as launcher:
        child = await launcher.launch(LaunchRequest(["/bin/sh", "-c", "sleep 600 & sleep 600"], {{}}, "/"))
        print(child.pid, flush=True)
        await child.wait()

asyncio.run(main())
"""


def test_nothing_outlives_a_killed_command() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            group = int(parent.stdout.readline())
            assert becomes(group, there=True), "the child was never in a group of its own"
        finally:
            parent.kill()
    assert becomes(group, there=False), "processes of a killed command go on"


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
            parent.wait(20)
        finally:
            parent.kill()
    deadline = time.monotonic() + 5
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


def test_a_stopped_sandbox_leaves_nobody(tools: Toolchain, tmp_path: Path) -> None:
    """Of processes that take no notice of anything, in process groups of their own."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    tmp_path.chmod(0o755)
    (work := tmp_path / "work").mkdir(mode=0o777)
    program = "trap '' TERM HUP INT; setsid sleep 600 & setsid sleep 600 & echo; sleep 600"
    launch = Launch(["/bin/sh", "-c", program], work, {"MARK": str(work)}, writable=[work], capture=True)

    async def stop() -> None:
        async with open_sandbox(Level.STRICT, tools, tmp_path) as sandbox:
            child = await sandbox.launch(launch)
            assert child.stdout
            await child.stdout.readline()
            assert len(processes_with(str(work))) >= 3
            await child.stop()
            for _ in range(250):
                if not processes_with(str(work)):
                    break
                await asyncio.sleep(0.02)

    asyncio.run(stop())
    assert processes_with(str(work)) == []


def becomes(group: int, *, there: bool) -> bool:
    """Whether a process group is there, or is not, within five seconds."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
            found = True
        except ProcessLookupError:
            found = False
        if found is there:
            return True
        time.sleep(0.02)
    return False


def test_the_launcher_holds_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-that-nobody-may-see")

    async def environments() -> list[bytes]:
        async with open_launcher() as launcher:
            child = await launcher.launch(LaunchRequest(["/bin/sleep", "600"], {"OWN": "1"}, "/"))
            parent = int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[1])
            found = [Path(f"/proc/{pid}/environ").read_bytes() for pid in (child.pid, parent)]
            await child.stop()
            return found

    for found in asyncio.run(environments()):
        assert b"a-secret" not in found


def test_workers_keep_to_processors_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 2, 3, 5, 6})
    assert shares(1) == [()]
    assert shares(2) == [(0, 2), (3, 5)]
    assert shares(7) == [(0,), (2,), (3,), (5,), (6,), (0,), (2,)]


def test_what_is_launched_runs_where_it_is_told_to() -> None:
    mine = min(os.sched_getaffinity(0))
    look = LaunchRequest(["/bin/grep", "Cpus_allowed_list:", "/proc/self/status"], {}, "/")

    async def where(processors: tuple[int, ...]) -> str:
        async with open_launcher() as launcher:
            with running_on(processors):
                child = await launcher.launch(look, capture=True)
            async with child:
                assert child.stdout
                return (await child.stdout.read()).decode().split()[1]

    assert asyncio.run(where((mine,))) == str(mine)
    ours = Path("/proc/self/status").read_text().partition("Cpus_allowed_list:")[2].split()[0]
    assert asyncio.run(where(())) == ours


def test_a_program_that_is_not_there_is_a_fault_of_the_launch(tools: Toolchain, tmp_path: Path) -> None:
    async def start() -> str:
        async with open_sandbox(Level.NONE, tools, tmp_path) as sandbox:
            child = await sandbox.launch(Launch(["/no/such/program"], tmp_path, {}))
            await child.wait()
            await asyncio.sleep(0.1)
            words = child.last_words()
            await child.stop()
            return words

    assert "cannot start /no/such/program" in asyncio.run(start())


def test_a_launcher_that_died_is_a_fault_and_no_hang() -> None:
    async def use() -> None:
        async with open_launcher() as launcher:
            child = await launcher.launch(LaunchRequest(["/bin/sleep", "600"], {}, "/"))
            os.kill(int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
            assert await asyncio.wait_for(child.wait(), 5) == -signal.SIGKILL
            with pytest.raises(ProcessFault, match="launcher"):
                await launcher.launch(LaunchRequest(["/bin/true"], {}, "/"))
            await child.stop()

    asyncio.run(use())
