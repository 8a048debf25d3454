"""What is told while trials are under way, and at the end of several runs."""

from __future__ import annotations

import os
import pty
import re
import select
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.records import Outcome
from convex_evals.render import terminal
from convex_evals.render.plain import plain
from convex_evals.render.terminal import Display
from convex_evals.runs.options import RunOptions
from convex_evals.runs.outcome import closing_section, retry_lines, run_section
from convex_evals.runs.progress import Progress
from convex_evals.runs.runner import TrialDone
from convex_evals.store.run import Run
from tests.factories import EVAL, make_generation, make_run, make_verdict
from tests.terminal import screen


def done(outcome: Outcome = Outcome.PASSED, reused: bool = False, cost: float = 0.04) -> TrialDone:
    generation = make_generation().model_copy(update={"cost_usd": cost})
    return TrialDone(EVAL, 1, make_verdict(outcome), reused, generation)


def test_progress_says_pass_rate_cost_and_what_is_left(golden: Callable[[str, str], None]) -> None:
    now = [0.0]
    progress = Progress(40, lambda: now[0])
    told = [progress.line()]
    for outcome, reused in [
        (Outcome.PASSED, True),
        (Outcome.PASSED, False),
        (Outcome.UNSCORED, False),
        (Outcome.FAILED, False),
        (Outcome.PASSED, False),
    ]:
        now[0] += 0 if reused else 20
        progress.add(done(outcome, reused))
        told.append(progress.line())
    now[0] = 4_000
    told.append(progress.line())
    for _ in range(35):
        progress.add(done())
    told.append(progress.line())
    assert max(map(len, told)) <= 80
    golden("progress.txt", "\n".join(told) + "\n")


def test_one_trial_is_no_plural() -> None:
    assert Progress(1).line() == "0 of 1 trial"


def test_off_a_terminal_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Display() as display:
        display.progress("1 of 3 trials")
        monkeypatch.setattr(terminal, "_PROGRESS_SECONDS", 0.0)
        display.progress("2 of 3 trials")
    assert capsys.readouterr().err == "so far: 2 of 3 trials\n"


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_terminal_progress_is_beside_the_bar_where_there_is_room(
    width: int, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    main, other = pty.openpty()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    with os.fdopen(other, "w") as stderr:
        monkeypatch.setattr("sys.stderr", stderr)
        with Display() as display:
            display.preparing("preparing packages", 100, 400)
            display.start("trials", 400)
            display.item("passed", EVAL, 4.2)
            display.progress("130 of 400 trials, 75% passed, $12.34 so far, about 2 h 10 min left")
            assert display._live is not None
            display._live.refresh()
            output = b""
            while select.select([main], [], [], 0.5)[0] and b"left" not in output:
                output += os.read(main, 65536)
            shown = "\n".join(screen(output.decode()))
    os.close(main)
    golden(f"messages/progress-{width}.txt", re.sub("[\u2801-\u28ff]", "\u280b", shown) + "\n")


@pytest.mark.parametrize("fresh", [False, True])
def test_one_line_resumes_all_runs(fresh: bool, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    """And one command tries again what is stuck."""

    def make(n: int, outcomes: str, complete: bool) -> Run:
        evals = {EVAL: outcomes, "001-more/000-later": ""} if not complete else {EVAL: outcomes}
        model = f"acme/model-{n}"
        return make_run(tmp_path / "runs", evals, complete=complete, model=model, run_id=f"run-{n}", fresh=fresh)

    runs = [make(1, "pf", False), make(2, "pp", False), make(3, "pu", True), make(4, "up", True)]
    options = RunOptions(models=("acme/model-1", "acme/model-2", "acme/model-3", "acme/model-4"), trials=2, fresh=fresh)
    ends = [(run, run.summary()) for run in runs]
    closing = plain(closing_section(ends, options))
    golden(f"several-runs{'-fresh' if fresh else ''}.txt", closing + "\n")
    for run, summary in ends:
        shown = plain(run_section(run, summary, None, retry_lines(run, summary, options, alone=False), alone=False))
        assert "Try again" not in shown and "resume" not in shown.replace(str(tmp_path), "")
