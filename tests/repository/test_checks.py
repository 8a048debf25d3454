"""What `scripts/check.py` makes of tests that are planted: a flake, a failure, a hang, a dependence on the order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import check, machine
from scripts.check import Outcome
from scripts.run_tests import MOST_FLAKY, TestRun, run_tests
from scripts.streaming import run_streaming
from tests import patience
from tests.conftest import ROOT

CONFTEST = """
import pytest

pytest_plugins = ["tests.inherited_signals", "tests.results", "tests.time_limits"]

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(item.path.stem))
"""
SETTINGS = "[pytest]\naddopts = -q\ntimeout = 2\n"
FLAKE = """
from pathlib import Path

def test_flaky{n}(request):
    first = request.config.rootpath / "first-{n}"
    if not first.exists():
        first.touch()
        print("what the flaky one prints")
        raise AssertionError("the planted flake")
"""
FAILURE = "def test_fails(): assert 1 == 2, 'the planted failure'\n"
HANG = """
import subprocess, sys, threading, time

CHILD = "import time\\ndef in_the_child(): time.sleep(600)\\nin_the_child()"

def test_hangs():
    threading.Thread(target=time.sleep, args=(600,), name="other", daemon=True).start()
    with subprocess.Popen([sys.executable, "-c", CHILD]) as child:
        try:
            wait_in_the_test(child)
        finally:
            child.kill()

def wait_in_the_test(child):
    child.wait()
"""

Plant = Callable[..., TestRun]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Run tests of these texts as `scripts/check.py` runs the real ones."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(*texts: str, options: tuple[str, ...] = (), limit: float = 100) -> TestRun:
        write_tests(tmp_path, *texts)
        return run_tests(list(options), tmp_path, limit)

    return run


def write_tests(folder: Path, *texts: str) -> None:
    files = {"conftest.py": CONFTEST, "pytest.ini": SETTINGS, "test_good.py": "def test_good(): pass\n"}
    files |= {f"test_{number}.py": text for number, text in enumerate(texts)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_a_flake_is_green_and_named_with_both_outputs(plant: Plant) -> None:
    found = plant(FLAKE.format(n=0))
    assert found.is_green and not found.failed
    [(test, text)] = found.flaky.items()
    assert test == "test_0.py::test_flaky0"
    assert "the planted flake" in text and "what the flaky one prints" in text and "passed when it ran again" in text


@pytest.mark.full
def test_several_flakes_are_red(plant: Plant) -> None:
    found = plant(*(FLAKE.format(n=n) for n in range(MOST_FLAKY + 1)))
    assert not found.is_green and len(found.flaky) == MOST_FLAKY + 1 and found.problem


@pytest.mark.full
def test_a_failure_is_red_and_ran_twice(plant: Plant) -> None:
    found = plant(FAILURE)
    assert not found.is_green and not found.flaky
    assert found.failed["test_0.py::test_fails"].count("AssertionError: the planted failure") == 2


@pytest.mark.full
def test_a_hang_is_red_within_its_limit_with_all_stacks(plant: Plant) -> None:
    start = time.monotonic()
    found = plant(HANG)
    assert time.monotonic() - start < patience.seconds(60)
    text = found.failed["test_0.py::test_hangs"]
    assert "Timeout: the test took more than" in text
    assert "wait_in_the_test" in text, "the thread of the test"
    assert text.count('File "') > 2 and "Thread 0x" in text, "other threads"
    assert "in_the_child" in text, "the child's own stack"


@pytest.mark.full
def test_a_run_that_does_not_end_is_ended(plant: Plant) -> None:
    """The time limit of a test does not reach what hangs outside of tests."""
    found = plant("import time\ntime.sleep(600)\n", limit=5)
    assert found.problem == "it took too long, and was ended" and not found.is_green


@pytest.mark.full
def test_what_has_passed_is_left_out_but_for_tests_that_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
import pytest
from hypothesis import given, strategies

def test_same(): pass
@pytest.mark.grows
def test_grows(): pass
@given(strategies.integers())
def test_property(number): pass
def test_skips(): pytest.skip("not today")
@pytest.fixture
def torn():
    yield
    raise OSError
def test_torn(torn): pass
"""
    write_tests(tmp_path, text)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\npytest_plugins = ['tests.results']\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    grows\n    full\n    xdist_group\n")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    first = run_tests([], tmp_path, 100)
    assert first.passed == [f"test_0.py::test_{name}" for name in ("grows", "property", "same")] + [
        "test_good.py::test_good"
    ]
    (tmp_path / "passed").write_text("\n".join(first.passed))
    rest = run_tests([f"--passed={tmp_path / 'passed'}"], tmp_path, 100)
    assert rest.passed == [f"test_0.py::test_{name}" for name in ("grows", "property")]
    assert [*rest.failed] == ["test_0.py::test_torn"] and len(rest.skipped) == 1


def test_what_passed_is_known_for_the_same_commit_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "LAST", tmp_path / "checks" / "last.json")
    with pytest.raises(SystemExit, match=r"no check was run here yet; run python scripts/check\.py first"):
        check.passed_before("0a")
    outcome = Outcome({"ruff check": 1.0, "imports": 2.0, "pytest": 3.0}, ["imports"], TestRun(passed=["a::b"]))
    check.write_last("0a", "--fast", outcome)
    assert check.passed_before("0a") == {"ruff check", "a::b"}
    assert check.passed_before("0b") == set() and "the last check was of 0a, this is 0b" in capsys.readouterr().out
    check.write_last("0a with uncommitted changes", "--fast", outcome)
    assert check.passed_before("0a with uncommitted changes") == set()
    check.LAST.write_text('{"commit": "0a"')
    with pytest.raises(SystemExit, match=r"last\.json cannot be read"):
        check.read_last()


@pytest.mark.full
def test_a_module_that_cannot_be_loaded_is_red(plant: Plant) -> None:
    found = plant("import nowhere\n")
    assert not found.is_green and found.problem


@pytest.mark.full
def test_a_dependence_on_the_order_is_found_by_shuffling(plant: Plant) -> None:
    text = "made = []\n" + "".join(f"def test_{n}(): assert len(made) == {n}; made.append({n})\n" for n in range(5))
    assert plant(text).is_green
    assert not plant(text, options=("--random-order", "--random-order-seed=1")).is_green


def test_signals_that_a_script_ignores_are_reset(tmp_path: Path) -> None:
    text = """
import signal, subprocess, sys

def test_children_heed_signals():
    shown = "import signal; print([signal.getsignal(s) == signal.SIG_IGN for s in (1, 2, 15)])"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert done.stdout == "[False, False, False]\\n"
"""
    write_tests(tmp_path, text)
    argv = [sys.executable, "-m", "pytest", "test_0.py"]

    def ignore() -> None:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment, capture_output=True, text=True, preexec_fn=ignore, check=False
    )
    assert done.returncode == 0, done.stdout


def test_what_a_command_prints_is_shown_and_kept(capfd: pytest.CaptureFixture[str]) -> None:
    status, lines = run_streaming([sys.executable, "-c", "print('é'); print('b', end=''); exit(3)"], ROOT)
    assert (status, lines) == (3, ["é", "b"]) and capfd.readouterr().out == "é\nb"


def test_the_machine_is_described(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            found = machine.busy_processes()
            assert any("while True: pass" in command for _, command in found)
            assert not machine.is_calm([(float(os.cpu_count() or 1), "busy")])
            monkeypatch.setattr(sys, "argv", ["machine.py", "--calm", "0"])
            machine.main()
        finally:
            busy.kill()
    said = capsys.readouterr().out
    assert re.fullmatch(r"machine: load [\d., ]+; \d+ cores; [\d.]+ of [\d.]+ GiB free; busiest: .+\n", said)
