"""`cli run` without a model: a menu on a terminal. The terminal is a real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.factories import make_eval, write_files
from tests.provider import models_yaml
from tests.terminal import CTRL_C, DOWN, ENTER, ESCAPE, SPACE, terminal


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
        screen.type(ENTER)
        assert screen.end() == 0
        assert "synthetic: no model was asked" in screen.seen
    chosen = {"model": "demo/recorded", "synthetic": True, "evals": ["005-idioms/003-convex_test"]}
    assert plans(suite) == [chosen]

    with terminal(suite) as screen:
        screen.wait_for("What to run:")
        screen.wait_for("rerun the failures of the last run")
        screen.type(DOWN, ENTER)
        screen.wait_for("cli run -m demo/recorded -f '^(005-idioms/003-convex_test)$' --fresh")
        screen.wait_for("Run this?")
        screen.type(ENTER)
        assert screen.end() == 0
    assert plans(suite) == [chosen, chosen]


@pytest.mark.parametrize(
    "steps",
    [
        [("Models:", CTRL_C)],
        [("Models:", SPACE + ENTER), ("Categories:", CTRL_C)],
        [("Models:", SPACE + ENTER), ("Categories:", ENTER), ("Evals:", ENTER), ("Run this?", CTRL_C)],
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


@pytest.mark.parametrize("width", [80, 120])
def test_price_trials_and_budget_are_shown_before_it_asks(
    width: int, suite: Path, golden: Callable[[str, str], None]
) -> None:
    write_files(suite, {"models.yaml": models_yaml("http://127.0.0.1:9/v1"), "guidelines/convex.md": "Be brief.\n"})
    with terminal(suite, "-c", "fundamentals", width=width, STUB_KEY="secret") as screen:
        screen.wait_for("Models:")
        screen.type(SPACE, ENTER)
        screen.wait_for("Evals:")
        screen.type(ENTER)
        screen.wait_for("Experiments:")
        screen.type(ENTER)
        screen.wait_for("Run this?")
        before = screen.settle()
        screen.type(DOWN, ENTER)
        screen.wait_for("Trials per eval:")
        screen.type("0", ENTER)  # 10
        screen.wait_for("--trials 10")
        screen.type(DOWN, DOWN, ENTER)
        screen.wait_for("Hard limit on spending")
        screen.type("x", ENTER)
        screen.wait_for("such as 20 or 2.50")
        screen.type("\x7f", "7", ENTER)
        screen.wait_for("--budget 7")
        after = screen.settle()
        screen.type(CTRL_C)
        assert screen.end() == 130
    golden(f"menu-{width}.txt", "\n".join([*before, "", "=" * width, "", *after]) + "\n")


def test_each_question_goes_back_to_the_one_before(suite: Path) -> None:
    with terminal(suite) as screen:
        screen.wait_for("Models:")
        screen.type(ESCAPE, DOWN, SPACE, ENTER)  # nothing is before it; reference
        screen.wait_for("Categories:")
        screen.type(ENTER)
        screen.wait_for("Evals:")
        screen.type(ESCAPE)
        screen.wait_for("Categories:")
        screen.type(DOWN, SPACE, ENTER)
        screen.wait_for("Evals:")
        screen.type(ENTER)
        screen.wait_for("cli run -m reference -c 005-idioms")
        screen.wait_for("1 trial; no model is asked, so it costs nothing")
        screen.type(DOWN, DOWN, ENTER)  # go back
        screen.wait_for("Evals:")
        screen.type(ESCAPE)
        screen.wait_for("Categories:")
        screen.type(ESCAPE)
        screen.wait_for("Models:")
        screen.type(CTRL_C)
        assert screen.end() == 130
