"""`cli run` without a model: a menu on a terminal. The terminal is a real one."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT, clean_environment
from tests.factories import make_eval

SPACE, ENTER, DOWN, CTRL_C = " ", "\r", "\x1b[B", "\x03"
_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[=>])")


@dataclass
class Terminal:
    pid: int
    fd: int
    seen: str = ""
    status: int | None = None

    def wait_for(self, text: str) -> None:
        """Until `text` is on the screen, after what was waited for before."""
        deadline = time.monotonic() + 60
        while text not in self.seen:
            assert self._read(deadline), f"no {text!r} in {self.seen!r}"
        self.seen = self.seen.partition(text)[2]

    def type(self, *keys: str) -> None:
        for key in keys:
            os.write(self.fd, key.encode())
            time.sleep(0.05)  # as people type: an escape sequence and what follows it are two things

    def end(self) -> int:
        """The exit code."""
        deadline = time.monotonic() + 120
        while self._read(deadline):
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"nothing more than {self.seen!r}"
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # Linux, once the other side has closed
            return False
        self.seen += _ESCAPE.sub("", data.decode(errors="replace"))
        return bool(data)


@contextmanager
def terminal(cwd: Path, *arguments: str) -> Iterator[Terminal]:
    environment = clean_environment(TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1", COLUMNS="120", LINES="50")
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(sys.executable, [sys.executable, str(ROOT / "cli.py"), "run", *arguments], environment)
    found = Terminal(pid, fd)
    try:
        yield found
    finally:
        if found.status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(fd)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Two evals of two categories that the demo has replies to, neither of which gets past the first step."""
    make_eval(tmp_path, "005-idioms/003-convex_test")
    make_eval(tmp_path, "000-fundamentals/099-nobody_answered")
    make_eval(tmp_path, "000-fundamentals/000-crons")
    return tmp_path


def plans(suite: Path) -> list[dict[str, object]]:
    found = [json.loads(p.read_text()) for p in suite.glob("runs/*/*/*/*/run.json")]
    return [{key: plan[key] for key in ("model", "synthetic")} | {"evals": list(plan["evals"])} for plan in found]


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_choosing_and_then_the_failures_again(suite: Path) -> None:
    with terminal(suite) as screen:
        screen.wait_for("Models:")
        screen.type(SPACE, ENTER)  # demo
        screen.wait_for("Categories:")
        screen.type(DOWN, SPACE, ENTER)  # 005-idioms
        screen.wait_for("Evals:")
        screen.type(ENTER)  # all
        screen.wait_for("cli run -m demo -c 005-idioms")
        screen.wait_for("Run this?")
        screen.type("y")
        assert screen.end() == 0
        assert "synthetic: no model was asked" in screen.seen
    chosen = {"model": "demo/recorded", "synthetic": True, "evals": ["005-idioms/003-convex_test"]}
    assert plans(suite) == [chosen]

    with terminal(suite) as screen:
        screen.wait_for("What to run:")
        screen.wait_for("rerun the failures of the last run")
        screen.type(DOWN, ENTER)
        screen.wait_for("cli run -m demo/recorded -f '^(005-idioms/003-convex_test)$' --fresh")
        screen.type("y")
        assert screen.end() == 0
    assert plans(suite) == [chosen, chosen]


@pytest.mark.parametrize(
    "steps",
    [
        [("Models:", CTRL_C)],
        [("Models:", SPACE + ENTER), ("Categories:", CTRL_C)],
        [("Models:", SPACE + ENTER), ("Categories:", ENTER), ("Evals:", ENTER), ("Run this?", "n")],
    ],
)
def test_leaving_the_menu(suite: Path, steps: list[tuple[str, str]]) -> None:
    before = sorted(suite.rglob("*"))
    with terminal(suite) as screen:
        for question, keys in steps:
            screen.wait_for(question)
            screen.type(*keys)
        assert screen.end() == 130
        assert "interrupted" in screen.seen and "Traceback" not in screen.seen
    assert sorted(suite.rglob("*")) == before


def test_what_is_on_the_command_line_is_not_asked(suite: Path) -> None:
    with terminal(suite, "-c", "idioms", "-f", "convex_test", "--trials", "2") as screen:
        screen.wait_for("Models:")
        screen.type(DOWN, SPACE, ENTER)  # reference
        screen.wait_for("cli run -m reference --trials 2 -c idioms -f convex_test")
        screen.type(CTRL_C)
        assert screen.end() == 130
