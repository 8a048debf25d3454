"""What people are told while requests wait."""

from __future__ import annotations

import os
import pty
import select

import pytest

from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.waits import Waits
from convex_evals.render import terminal
from convex_evals.render.terminal import Display

SLOW = ProviderFault(Fault.RATE_LIMIT, "Slow down, please.\nAnd more.")


def test_who_lets_us_wait_why_and_for_how_long() -> None:
    now = [100.0]
    waits = Waits(lambda: now[0])
    assert waits.line() is None
    with waits.answer_of("acme/x") as heard, waits.answer_of("acme/x"), waits.after(SLOW, "stub/model", 60):
        failed = "stub/model: 1 request failed (rate_limit: Slow down, please.), sent again in {}"
        assert waits.line() == failed.format("1 min"), "an answer takes a while"
        now[0] += 30
        heard()
        assert waits.line() == f"acme/x: no answer to 1 request for 30 s; {failed.format('30 s')}"
        with waits.after(SLOW, "stub/model", 5):
            assert "stub/model: 2 requests failed" in str(waits.line()) and "again in 10 s" in str(waits.line())
        now[0] += 150
        assert str(waits.line()).startswith("acme/x: no answer to 2 requests for 3 min; ")
    assert waits.line() is None


def test_off_a_terminal_it_is_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Display() as display:
        display.waiting("acme/x: no answer to 1 request for 30 s")
        monkeypatch.setattr(terminal, "_WAITING_SECONDS", 0.0)
        display.waiting(None)
        display.waiting("acme/x: no answer to 1 request for 1 min")
    assert capsys.readouterr().err == "waiting: acme/x: no answer to 1 request for 1 min\n"


def test_on_a_terminal_it_stands_beside_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where only one thing is asked for."""
    main, other = pty.openpty()
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(other, "w") as stderr:
        monkeypatch.setattr("sys.stderr", stderr)
        with Display() as display:
            display.preparing("asking acme/x", 0, 0)
            display.waiting("no answer to 1 request for 30 s")
            assert display._live is not None
            display._live.refresh()
            output = b""
            while b"for 30 s" not in output and len(output) < 100_000 and select.select([main], [], [], 10)[0]:
                output += os.read(main, 65536)
            assert b"for 30 s" in output and b"asking acme/x" in output
    os.close(main)
