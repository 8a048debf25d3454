"""The simulation of false alarms: that it tells right from wrong, and that what the documents show is whole."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats

from convex_evals.stats import Conclusion, Confirmation, EvalPair, Paired, confirm, paired
from scripts import simulate_aa
from scripts.simulation import drawing, experiments, results, setups
from tests import patience
from tests.conftest import ROOT, clean_environment


def test_false_alarms_and_power_can_be_simulated() -> None:
    argv = [sys.executable, "scripts/simulate_aa.py", "--experiments", "40", "--only", "40 evals x 3", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(120), check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {row["what"] for row in report["false_alarms"]} == {
        "improved or regressed",
        "any category, after Holm",
        "any eval marked sure",
        "an eval marked likely",
        "any of 6 models, after Holm",
    }
    assert [row["effect"] for row in report["power"]] == list(setups.EFFECTS)
    assert report["power"][-1]["improved"] > report["power"][0]["improved"]
    # A part alone comes out as it does among the others.
    alone = subprocess.run(
        [*argv[:-3], "--only", "A/B 40 evals x 3 trials +10", "--json"],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(120), check=True,
    )  # fmt: skip
    assert json.loads(alone.stdout)["power"] == [row for row in report["power"] if row["effect"] == 0.1]


def test_verdicts_that_are_wrong_too_often_are_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hasty(pairs: Sequence[EvalPair]) -> Paired:
        found = paired(pairs)
        return dataclasses.replace(found, verdict=Conclusion.IMPROVED if found.difference > 0.05 else found.verdict)

    monkeypatch.setattr(sys, "argv", ["simulate_aa.py", "--experiments", "200", "--only", "A/A 40 evals x 1 trials"])
    assert simulate_aa.main() == 0
    monkeypatch.setattr(experiments, "paired", hasty)
    assert simulate_aa.main() == 1
    assert "ABOVE 5%" in capsys.readouterr().out


@pytest.mark.parametrize(("claims", "of"), [(0, 50), (50, 50), (3, 100), (600, 10_000)])
def test_the_interval_of_a_rate(claims: int, of: int) -> None:
    rate = results.Rate("", "", claims, of, 0.05)
    theirs = scipy.stats.binomtest(claims, of).proportion_ci(method="exact")
    assert rate.interval == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert rate.ok == (rate.interval[0] <= 0.05)


def test_a_recipe_that_looks_twice_at_the_same_trials_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hasty(screen: Sequence[EvalPair], again: Sequence[EvalPair]) -> Confirmation:
        """Counts the trials that made evals flip, ten times."""
        many = [(10 * p.a_passed, 10 * p.a_scored, 10 * p.b_passed, 10 * p.b_scored) for p in screen]
        return confirm(screen, [EvalPair(p.eval, *row) for p, row in zip(screen, many, strict=True)])

    part = "recipe A/A 40 evals, 3 then 10 trials"
    monkeypatch.setattr(sys, "argv", ["simulate_aa.py", "--experiments", "200", "--only", part])
    assert simulate_aa.main() == 0
    monkeypatch.setattr(drawing, "confirm", hasty)
    assert simulate_aa.main() == 1
    assert "ABOVE 5%" in capsys.readouterr().out


def test_the_recipe_finds_what_changed() -> None:
    (one,) = experiments.recipe_power(setups.Recipe(8, fixed=3), 60, np.random.default_rng(1))
    assert one.improved > 0.9 and one.found > 0.5 and one.covered > 0.8 and one.calls < 2 * 8 * 13


def test_the_documents_show_all_of_it() -> None:
    data = json.loads((ROOT / "docs" / "simulate_aa.json").read_text(encoding="utf-8"))
    whole, recipe = results.of_recipe(results.from_data(data))
    assert all(rate.ok and rate.of >= 10_000 for rate in (*whole.rates, *recipe.rates))
    assert all(p.experiments >= 10_000 for p in whole.powers) and all(r.experiments >= 10_000 for r in recipe.recipe)
    shown = {(r.setup, r.what) for r in whole.rates if "models" not in r.what}
    assert {setup.name for setup in setups.NULL} == {setup for setup, _ in shown}
    assert [(p.setup, p.effect) for p in whole.powers] == [(s.name, s.effect) for s in setups.REAL]
    assert any("models" in r.what for r in whole.rates)
    names = {r.setup for r in recipe.rates if "hunk" not in r.what}
    assert names == {one.name for one in setups.RECIPE_NULL} and any("hunk" in r.what for r in recipe.rates)
    assert [(r.setup, r.truth) for r in recipe.recipe] == [(s.name, s.truth) for s in setups.RECIPE_REAL]
