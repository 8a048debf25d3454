"""The simulation of false alarms: that it tells right from wrong, and that what the documents show is whole."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence

import pytest
from statsmodels.stats.proportion import proportion_confint

from convex_evals.stats import EvalPair, Paired, Verdict, paired
from scripts import simulate_aa
from tests.conftest import ROOT, clean_environment


def test_false_alarms_and_power_can_be_simulated() -> None:
    argv = [sys.executable, "scripts/simulate_aa.py", "--experiments", "40", "--only", "40 evals x 3", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {row["what"] for row in report["false_alarms"]} == {
        "improved or regressed",
        "any category, after Holm",
        "any eval marked sure",
        "an eval marked likely",
        "any of 6 models, after Holm",
    }
    assert [row["effect"] for row in report["power"]] == list(simulate_aa.EFFECTS)
    assert report["power"][-1]["improved"] > report["power"][0]["improved"]
    # A part alone comes out as it does among the others.
    alone = subprocess.run(
        [*argv[:-3], "--only", "A/B 40 evals x 3 trials +10", "--json"],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert json.loads(alone.stdout)["power"] == [row for row in report["power"] if row["effect"] == 0.1]


def test_verdicts_that_are_wrong_too_often_are_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hasty(pairs: Sequence[EvalPair]) -> Paired:
        found = paired(pairs)
        return dataclasses.replace(found, verdict=Verdict.IMPROVED if found.difference > 0.05 else found.verdict)

    monkeypatch.setattr(sys, "argv", ["simulate_aa.py", "--experiments", "200", "--only", "A/A 40 evals x 1 trials"])
    assert simulate_aa.main() == 0
    monkeypatch.setattr(simulate_aa, "paired", hasty)
    assert simulate_aa.main() == 1
    assert "ABOVE 5%" in capsys.readouterr().out


@pytest.mark.parametrize(("said", "of"), [(0, 50), (50, 50), (3, 100), (600, 10_000)])
def test_the_interval_of_a_rate(said: int, of: int) -> None:
    rate = simulate_aa.Rate("", "", said, of, 0.05)
    assert rate.interval == pytest.approx(proportion_confint(said, of, method="beta"), abs=1e-9)
    assert rate.ok == (rate.interval[0] <= 0.05)


def test_the_documents_show_all_of_it() -> None:
    rates, powers = simulate_aa.from_data(json.loads((ROOT / "docs" / "simulate_aa.json").read_text(encoding="utf-8")))
    assert all(rate.ok and rate.of >= 10_000 for rate in rates) and all(p.experiments >= 10_000 for p in powers)
    shown = {(r.setup, r.what) for r in rates if "models" not in r.what}
    assert {setup.name for setup in simulate_aa.NULL} == {setup for setup, _ in shown}
    assert [(p.setup, p.effect) for p in powers] == [(s.name, s.effect) for s in simulate_aa.REAL]
    assert any("models" in r.what for r in rates)
