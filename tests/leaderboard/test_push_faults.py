"""Pushing is finished by pushing again, whatever became of requests and of the command in between.

The invariant is `Pushing.check`: each session is there exactly once with its files, and exports are the command's.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.publish import session_pusher
from convex_evals.publish.client import Patience
from tests import patience, tier
from tests.conftest import ROOT, Invoke, clean_environment
from tests.leaderboard.pushed import Pushing, make_pushing
from tests.publish.deployed import Deployment
from tests.publish.faulty_proxy import Fault, FaultyProxy, faulty_proxy
from tests.publish.publications import TOKEN_ENV

pytestmark = pytest.mark.grading

MOST_COMMANDS = 5
FUNCTIONS = ("sessions:list", "sessions:put", "sessions:putKeys", "sessions:withdraw", "sessions:uploadUrls", "upload")


@pytest.fixture
def proxy(board: Deployment) -> Iterator[FaultyProxy]:
    with faulty_proxy(board.url) as proxy:
        yield proxy


@pytest.fixture
def pushing(
    board: Deployment, proxy: FaultyProxy, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Pushing:
    monkeypatch.setenv(TOKEN_ENV, board.token)
    monkeypatch.setattr(session_pusher, "PATIENCE", Patience(pause_seconds=0.02, longest_pause_seconds=0.5))
    return make_pushing(tmp_path / "home", board, invoke, proxy.url)


def until_done(pushing: Pushing, proxy: FaultyProxy) -> None:
    """Push until it succeeds. What is late has arrived then."""
    for _ in range(MOST_COMMANDS):
        done = pushing.invoke("sessions", "push", cwd=pushing.store.root)
        proxy.settle()
        if done.status == 0:
            return
        assert done.status == 1 and all(line.startswith("error: ") for line in done.err.splitlines() if "error" in line)
    raise AssertionError(done.err)


def change(pushing: Pushing) -> None:
    """Something to replace, something to withdraw, something new, and another key."""
    first, second, _ = pushing.ready()
    pushing.label(first, expectedOutput="other")
    pushing.label(second, evalReady=False)
    hidden = next(i for i in pushing.store.ids() if i not in {first, second, *pushing.ready()})
    pushing.label(hidden, evalReady=True)


@pytest.mark.parametrize("function", [pytest.param(f, marks=() if "put" in f else pytest.mark.full) for f in FUNCTIONS])
@pytest.mark.parametrize("fault", [pytest.param(f, marks=() if f == Fault.LATE else pytest.mark.full) for f in Fault])
def test_a_fault_of_each_kind_in_each_call(fault: Fault, function: str, pushing: Pushing, proxy: FaultyProxy) -> None:
    key = pushing.add_key()
    for _ in range(2):
        proxy.calls(function, fault)
        until_done(pushing, proxy)
        pushing.check(key)
        change(pushing)
    proxy.faultless()
    until_done(pushing, proxy)
    pushing.check(key)
    stored, needed = pushing.files()
    # An upload whose answer was lost may have left a file that nothing refers to.
    assert stored - needed <= (4 if function == "upload" else 0)


@pytest.mark.parametrize("seed", range(4 if tier.is_full else 1))
def test_many_faults(seed: int, pushing: Pushing, proxy: FaultyProxy) -> None:
    key = pushing.add_key()
    for at in range(3):
        proxy.seeded(100 * seed + at, 0.15)
        until_done(pushing, proxy)
        proxy.faultless()
        pushing.check(key)
        change(pushing)


@pytest.mark.full
def test_a_push_that_is_killed_is_finished_by_the_next(pushing: Pushing, proxy: FaultyProxy, soak: bool) -> None:
    rng = random.Random(2)
    key = pushing.add_key()
    proxy.delay_seconds = 0.1
    argv = [sys.executable, str(ROOT / "cli.py"), "sessions", "push", "--concurrency", "1"]
    env = clean_environment(**{TOKEN_ENV: pushing.board.token, "HOME": os.environ["HOME"]})
    for _ in range(20 if soak else 3):
        proxy.plan(lambda *_: Fault.DELAY)
        pipe = subprocess.PIPE
        process = subprocess.Popen(argv, cwd=pushing.store.root, env=env, stdout=pipe, stderr=pipe, text=True)
        assert process.stderr
        process.stderr.readline()  # it has begun
        time.sleep(rng.uniform(0, 1.5))
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT]))
        process.communicate(timeout=patience.seconds(60))
        proxy.faultless()
        until_done(pushing, proxy)
        pushing.check(key)
        change(pushing)
