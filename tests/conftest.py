"""What every test gets: a home folder of its own, no network but loopback, and the command line in-process."""

from __future__ import annotations

import importlib
import os
import pkgutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis.internal
import hypothesis.strategies._internal
import pytest
from hypothesis import HealthCheck, settings

from convex_evals.cli import app
from convex_evals.config import cache_dir
from convex_evals.grading.node import NPM_SETTINGS
from tests import durations, tier

ROOT = Path(__file__).parents[1]
REAL_CACHE = cache_dir()
# What a test records of neighbours of an attack.
NEIGHBOURS = "neighbours"
NPM_USER_CONFIG = {"npm_config_userconfig": str(Path.home() / ".npmrc")}

pytest_plugins = ["tests.inherited_signals", "tests.results", "tests.time_limits"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="run the fast tier, even of files that are named")
    parser.addoption("--full", action="store_true", help="run all tests, not only the fast tier")
    parser.addoption("--soak", action="store_true", help="run all tests, the long ones in full size")
    parser.addoption("--passed", type=Path, help="leave out the tests whose ids this file names, a line each")
    parser.addoption("--update-golden", action="store_true", help="write golden files anew; review them as a diff")


def runs_everything(config: pytest.Config) -> bool:
    """Whether more than the fast tier runs: by an option, or because a file is named."""
    if config.getoption("fast"):
        return False
    return bool(config.getoption("full") or config.getoption("soak") or any(".py" in word for word in config.args))


def pytest_configure(config: pytest.Config) -> None:
    tier.is_full, tier.is_soak = runs_everything(config), bool(config.getoption("soak"))
    # How long an example takes, and how long it takes to make one, say more of the machine than of what is tested.
    settings.register_profile(
        "tier", max_examples=tier.examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("tier")


@pytest.hookimpl(trylast=True)  # Hypothesis warns of imports before its own hook
def pytest_sessionstart() -> None:
    """Import what Hypothesis imports late: CPython 3.11 may fail to compile in the middle of a test (gh-106905)."""
    for package in (hypothesis.internal, hypothesis.strategies._internal):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A file's tests share fixtures and stay on one worker; each area of the Node side is a group of its own.

    Tests that are marked `full` are left to --full, unless their file is named. What has passed need not run again in
    --full, but for tests that do more there.
    """
    everything, file = runs_everything(config), config.getoption("passed")
    passed = set(file.read_text(encoding="utf-8").splitlines()) if file else set()
    left_out = {
        item
        for item in items
        if (item.get_closest_marker("full") and not everything) or (item.nodeid in passed and not grows(item))
    }
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    groups: dict[str, str] = {}
    for item in items:
        node_area = item.get_closest_marker("parametrize") and "test_area[" in item.nodeid
        name = item.nodeid.partition("[")[2].rstrip("]") if node_area else item.path.stem
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            deployed = item.callspec.params.get("running_deployment")
            if isinstance(deployed, Path):
                name += f"-{deployed.name}"  # deployments take minutes each, and share nothing
        item.add_marker(pytest.mark.xdist_group(name))
        groups[item.nodeid] = name
    seconds = durations.recorded("--fast" if not tier.is_full else "--full")
    items.sort(key=lambda item: -seconds.get(groups[item.nodeid], 0))


def grows(item: pytest.Item) -> bool:
    """Whether a test does more with --full: it is marked so, or Hypothesis makes up more examples for it."""
    is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return bool(is_property or item.get_closest_marker("grows"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups are worth minutes, and get lost silently where pytest-xdist does not know this pytest."""
    if session.items and session.config.getoption("loadgroup", False) and "@" not in session.items[0].nodeid:
        raise pytest.UsageError("--dist=loadgroup has no effect: this pytest-xdist is too old for this pytest")
    if session.config.getoption("loadgroup", False) and session.config.getoption("loadscopereorder", False):
        raise pytest.UsageError("groups with few tests, which may be long, would run last; add --no-loadscope-reorder")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What became of neighbours, a line for each attack; with pytest-xdist, reports come from other processes."""
    reports = [r for found in terminalreporter.stats.values() for r in found if isinstance(r, pytest.TestReport)]
    lines = [str(text) for report in reports for name, text in report.user_properties if name == NEIGHBOURS]
    if lines:
        terminalreporter.section("neighbours after each attack")
        for line in sorted(set(lines)):
            terminalreporter.line(line)


@pytest.fixture(autouse=True)
def _guard(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The real home folder and the network are out of bounds; the toolchain's cache is shared, it only ever grows."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(REAL_CACHE))
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise RuntimeError(f"a test reached for the network: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


Invoke = Callable[..., Result]


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Invoke:
    """Run the command line in-process, in `tmp_path` or `cwd`, error boundary included."""

    def call(*arguments: str | Path, cwd: Path | None = None) -> Result:
        monkeypatch.chdir(cwd or tmp_path)
        monkeypatch.setattr(sys, "argv", ["cli", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            app.main()
        captured = capsys.readouterr()
        return Result(int(exit_.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def toolchain() -> Path:
    """The installed toolchain's cache folder. Installing may need the network: it happens in a process of its own."""
    argv = [sys.executable, str(ROOT / "cli.py"), "doctor", "--install"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return REAL_CACHE


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--soak"))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a golden file, or write it where --update-golden is given."""

    def check(name: str, text: str) -> None:
        path = ROOT / "tests" / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return check


def clean_environment(**more: str) -> dict[str, str]:
    """For subprocesses: what they need, how npm reaches its registry, and nothing else of the developer's."""
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "TMPDIR") if k in os.environ}
    npm = {k: v for k, v in os.environ.items() if k.lower().startswith(NPM_SETTINGS)}
    caches = {"CONVEX_EVALS_CACHE": str(REAL_CACHE), "npm_config_cache": str(REAL_CACHE / "npm")}
    return {**kept, **npm, **caches, **NPM_USER_CONFIG, **more}
