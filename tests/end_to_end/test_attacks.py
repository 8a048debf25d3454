"""Every attack of tests/attacks at every level that this machine offers, and what happens when a rule is taken away."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import PROCESSES, Level
from convex_evals.grading.sandbox.landlock import NEEDED_LANDLOCK, landlock_version
from convex_evals.grading.sandbox.request import LaunchRequest
from tests import tier
from tests.attacks.bench import FULL, NORMAL, Bench, Change, Result, open_bench, run_attacks
from tests.attacks.projects import ATTACKS, KNOWN, Attack
from tests.attacks.world import SECRET_NAME
from tests.conftest import NEIGHBOURS

pytestmark = [
    pytest.mark.full,
    pytest.mark.grading,
    pytest.mark.usefixtures("toolchain"),
    pytest.mark.timeout(1800),  # all attacks of a level are one fixture
]
LEVELS = (Level.STRICT, Level.LANDLOCK, Level.CONTAINER)
BY_NAME = {attack.name: attack for attack in ATTACKS}


def missing(level: Level) -> str | None:
    """Why this machine does not offer a level."""
    if level is Level.STRICT and not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    if level is Level.LANDLOCK and landlock_version() < NEEDED_LANDLOCK:
        return "the kernel has no Landlock of version 6"
    if level is Level.CONTAINER and not (shutil.which("podman") or shutil.which("docker")):
        return "neither podman nor docker is installed"
    return None


# What the second level stops by other means than the first: in a normal run the others are left to the first.
BY_OTHER_MEANS = {
    *("environments_of_others-program", "home-program", "ssh_keys-function", "write_outside-program"),
    *("symlink-program", "package_store-program", "loopback-program", "other_backend-program", "answer_port-function"),
    *("unix_socket-program", "abstract_socket-program", "udp-program", "network-program", "fork_bomb-program"),
    *("memory_in_many_processes-program", "many_files-function", "unlinked_files-program", "daemon-program"),
    *("kill_everybody-program", "tester_memory-program", "forged_verdict-program"),
}
# The same in a place of its own: what only that place stops, and what the launcher must see from in there.
IN_A_CONTAINER = {
    *("loopback-program", "command_lines-program", "answer_port-function", "unlinked_files-program"),
    "memory_in_one_process-program",
}


# Of so many attacks --full tries one, another for each commit; the nightly workflow tries all.
_FULL_SHARE = 10
# Where this file alone is asked for without --full: a few, at one level.
FAST_LEVEL = Level.LANDLOCK if missing(Level.STRICT) else Level.STRICT
WITHOUT_FULL = {"home-program", "network-program", "forged_verdict-program", "ambient_module"}


def wanted(attack: Attack, level: Level, full: bool, soak: bool) -> bool:
    """Attacks that differ little from others are left to --soak; of the others, --full tries a sample."""
    if soak:
        return True
    if not full:
        return attack.name in WITHOUT_FULL and level is FAST_LEVEL
    if attack.name not in WITHOUT_FULL and not tier.is_sampled(attack.name, _FULL_SHARE):
        return False
    if level is Level.CONTAINER:
        return attack.name in IN_A_CONTAINER
    return not attack.again if level is Level.STRICT or missing(Level.STRICT) else attack.name in BY_OTHER_MEANS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    soak, full = metafunc.config.getoption("--soak"), metafunc.config.getoption("--full")
    if "weakened" in metafunc.fixturenames:
        levels = [level for level in LEVELS if soak or level is not Level.CONTAINER]
        metafunc.parametrize("weakened", levels, indirect=True, scope="module")
    if "attack" in metafunc.fixturenames:
        known = pytest.mark.xfail(reason="docs/security.md names it", strict=True)
        pairs = [
            pytest.param(level, attack.name, marks=[known] if (level.value, attack.name) in KNOWN else [])
            for level in LEVELS
            for attack in ATTACKS
            if wanted(attack, level, full, soak)
        ]
        metafunc.parametrize(("ran", "attack"), pairs, indirect=["ran"], scope="module", ids=lambda word: str(word))


@pytest.fixture(scope="module")
def folders() -> Iterator[Path]:
    """A folder that every user can reach: pytest's own is closed to others, which would stop attacks by itself."""
    folder = Path(tempfile.mkdtemp(prefix="attacks-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class Ran:
    level: Level
    results: dict[str, Result]
    left: list[str]


RAN: dict[Level, Ran] = {}


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, folders: Path, toolchain: Path) -> Ran:
    """All attacks that this run asks for, at one level, in one service."""
    level: Level = request.param
    if reason := missing(level):
        pytest.skip(reason)
    soak = bool(request.config.getoption("--soak"))
    asked = {
        str(item.callspec.params["attack"])
        for item in request.session.items
        if hasattr(item, "callspec") and "attack" in item.callspec.params and item.callspec.params["ran"] is level
    }
    attacks = [a for a in ATTACKS if a.name in asked]
    # A fixture may be set up anew between two tests that share it, as a worker gets its tests in portions.
    if level not in RAN:
        folder = Path(tempfile.mkdtemp(prefix=f"{level.value}-", dir=folders))
        folder.chmod(0o755)
        try:
            size = FULL if soak else NORMAL
            RAN[level] = Ran(level, *run_attacks(level, attacks, folder, toolchain, size, all_neighbours=soak))
        except UserError as error:
            pytest.skip(str(error))
    return RAN[level]


def test_attack(attack: str, ran: Ran, record_property: Callable[[str, object], None]) -> None:
    result = ran.results[attack]
    assert result.neighbours
    record_property(NEIGHBOURS, f"{ran.level} {attack}: {result.neighbours.line}")
    assert result.problems == []


@pytest.mark.parametrize(
    "ran",
    [pytest.param(level, marks=[] if level is FAST_LEVEL else [pytest.mark.full]) for level in LEVELS],
    indirect=True,
)
def test_nothing_is_left(ran: Ran) -> None:
    assert ran.left == []


def without(words: list[str], *flag: str) -> list[str]:
    """A command line without the first occurrence of `flag`."""
    at = next(n for n in range(len(words)) if words[n : n + len(flag)] == list(flag))
    return [*words[:at], *words[at + len(flag) :]]


def machine_network(request: LaunchRequest) -> LaunchRequest:
    nsenter = shutil.which("nsenter")
    assert nsenter
    argv = [nsenter, f"--net=/proc/{os.getpid()}/ns/net", *request.argv]
    return replace(request, argv=argv, project_ports_only=False)


def any_port(request: LaunchRequest) -> LaunchRequest:
    return replace(request, project_ports_only=False)


def all_of_the_trial(request: LaunchRequest) -> LaunchRequest:
    return replace(request, reach=None)


def any_call(request: LaunchRequest) -> LaunchRequest:
    if request.filter_fd is None:
        return replace(request, filter_calls=False)
    return replace(request, argv=without(request.argv, "--seccomp", str(request.filter_fd)), filter_fd=None)


def home_in_sight(bench: Bench) -> Change:
    home = str(bench.world.home)

    def change(request: LaunchRequest) -> LaunchRequest:
        if request.rules is not None:
            return replace(request, rules={**request.rules, "readable": [*request.rules["readable"], home]})
        at = request.argv.index("--remount-ro")
        return replace(request, argv=[*request.argv[:at], "--ro-bind", home, home, *request.argv[at:]])

    return change


def any_memory(request: LaunchRequest) -> LaunchRequest:
    return replace(request, memory_bytes=None)


def any_number_of_processes(request: LaunchRequest) -> LaunchRequest:
    argv = ["30000" if word == str(PROCESSES) else word for word in request.argv]
    return replace(request, argv=argv, limits={k: v for k, v in request.limits.items() if k != "processes"})


def any_disk(request: LaunchRequest) -> LaunchRequest:
    return replace(request, place_bytes=4 * 2**30, folders=[])


def processes_in_sight(request: LaunchRequest) -> LaunchRequest:
    return replace(request, argv=without(request.argv, "--unshare-pid"))


def our_environment(request: LaunchRequest) -> LaunchRequest:
    argv = [word for word in request.argv if word != "--clearenv"]
    return replace(request, argv=argv, env={**request.env, SECRET_NAME: os.environ[SECRET_NAME]})


def any_tcp(request: LaunchRequest) -> LaunchRequest:
    assert request.rules is not None
    return replace(request, rules={**request.rules, "connect": None})


def all_of_proc(request: LaunchRequest) -> LaunchRequest:
    assert request.rules is not None
    return replace(request, rules={**request.rules, "readable": [*request.rules["readable"], "/proc"]})


COMMON = {
    "call filter": (any_call, "kernel_calls-program"),
    "memory watch": (any_memory, "memory_in_many_processes-program"),
    "process limit": (any_number_of_processes, "fork_bomb-program"),
    "limit of what is written": (any_disk, "many_files-function"),
    "clean environment": (our_environment, "environment-program"),
}
RULES: dict[Level, dict[str, tuple[Change, str]]] = {
    Level.STRICT: {
        **COMMON,
        "own network": (machine_network, "loopback-program"),
        "hidden port": (any_port, "answer_port-function"),
        "a network of one's own": (all_of_the_trial, "past_the_line-program"),
        "processes of its own": (processes_in_sight, "command_lines-program"),
    },
    Level.LANDLOCK: {
        **COMMON,
        "ports": (any_tcp, "loopback-program"),
        "little of /proc": (all_of_proc, "command_lines-program"),
    },
    # What a container itself stops is stopped twice.
    Level.CONTAINER: {
        **{rule: found for rule, found in COMMON.items() if rule != "call filter"},
        "ports": (any_tcp, "other_backend-program"),
    },
}
# Others may not enter the machine's network again, nor see its processes.
FOR_ROOT = ("own network", "processes of its own")


@pytest.fixture(scope="module")
def weakened(request: pytest.FixtureRequest, folders: Path, toolchain: Path) -> dict[str, Result]:
    """What came of one attack when one rule is taken away, by rule."""
    level: Level = request.param
    if reason := missing(level):
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix=f"weakened-{level.value}-", dir=folders))
    folder.chmod(0o755)

    async def run() -> dict[str, Result]:
        found = {}
        async with open_bench(level, folder, toolchain, NORMAL) as bench:
            in_sight: dict[str, tuple[Change, str]] = {"files in sight": (home_in_sight(bench), "home-program")}
            rules = {**RULES[level], **(in_sight if level is not Level.CONTAINER else {})}
            for rule, (change, attack) in rules.items():
                if rule in FOR_ROOT and os.getuid() != 0:
                    continue
                bench.launcher.change = change
                found[rule] = await bench.run(BY_NAME[attack])
        return found

    try:
        return asyncio.run(run())
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.full
def test_without_any_one_rule_an_attack_succeeds(weakened: dict[str, Result]) -> None:
    stopped = {rule: result for rule, result in weakened.items() if not result.harm}
    ends = [f"without the {rule}, after {result.seconds:.0f} s: {result.text}" for rule, result in stopped.items()]
    assert [*stopped] == [], "\n".join(ends)
