"""`cli compare --by-model`: one table, a conclusion, and verdicts that are corrected for the number of models."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import make_eval, make_run

EVALS = [f"000-fundamentals/{n:03}-eval" for n in range(12)]
BOTH = ("compare", "experiment=no_guidelines", "experiment=default", "--by-model")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One model that the guidelines help, one that they do not, and one that ran with them alone."""
    make_eval(tmp_path, EVALS[0])
    runs = tmp_path / "runs"
    for model, helped in (("acme/a", 9), ("acme/b", 0)):
        make_run(runs, dict.fromkeys(EVALS, "f"), model=model, experiment="no_guidelines", run_id="without")
        make_run(runs, {e: "p" if n < helped else "f" for n, e in enumerate(EVALS)}, model=model, run_id="with")
    make_run(runs, {EVALS[0]: "p"}, model="acme/c", run_id="with")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_conclusion_comes_first_and_each_model_is_a_row(suite: Path, invoke: Invoke) -> None:
    done = invoke(*BOTH)
    lines = done.out.splitlines()
    assert done.status == 0 and lines[0] == "improved: 1 of 2 models; too few to tell: 1"
    (row,) = [line.split() for line in lines if line.startswith("acme/a")]
    assert row[:5] == ["acme/a", "12", "0.0%", "75.0%", "+75.0"] and row[-1] == "improved"
    assert "On one side only: acme/c" in done.out


def test_machines_get_the_same(suite: Path, invoke: Invoke) -> None:
    data = json.loads(invoke(*BOTH, "--json").out)
    assert data["conclusion"].startswith("improved: 1 of 2 models") and data["alone"] == ["acme/c"]
    assert [(each["model"], each["verdict"]) for each in data["models"]] == [
        ("acme/a", "improved"),
        ("acme/b", "too_few"),
    ]
    rows = list(csv.DictReader(io.StringIO(invoke(*BOTH, "--format", "csv").out)))
    assert [row["model"] for row in rows] == ["acme/a", "acme/b"] and float(rows[0]["difference"]) == 0.75


def test_several_models_are_several_questions(suite: Path, invoke: Invoke) -> None:
    """A p that would do alone does not among three."""
    alone = json.loads(invoke(*BOTH, "--json").out)["models"][0]["p"]
    for model in ("acme/d", "acme/e"):
        for experiment, letters in (("no_guidelines", "ffffffpppppp"), ("default", "ppppppffffff")):
            outcomes = dict(zip(EVALS, letters, strict=True))
            make_run(suite / "runs", outcomes, model=model, experiment=experiment, run_id=f"more-{experiment}")
    among = json.loads(invoke(*BOTH, "--json").out)["models"][0]["p"]
    assert among == pytest.approx(3 * alone)


def test_models_without_a_scored_trial_are_on_one_line(suite: Path, invoke: Invoke) -> None:
    for model in ("acme/d", "acme/e"):
        for experiment in ("no_guidelines", "default"):
            outcomes = dict.fromkeys(EVALS, "p" if (model, experiment) == ("acme/e", "default") else "u")
            make_run(suite / "runs", outcomes, model=model, experiment=experiment, run_id=f"lost-{experiment}")
    words = ("compare", "experiment=no_guidelines,runs=all", "experiment=default,runs=all", "--by-model")
    out = invoke(*words).out
    assert out.startswith("improved: 1 of 2 models; too few to tell: 1\n")
    assert out.count("acme/d") == 1 and "No scored trial of: acme/d (timeout); acme/e (A: timeout)\n" in out
    found = json.loads(invoke(*words, "--json").out)["models"]
    assert [each["model"] for each in found] == ["acme/a", "acme/b", "acme/d", "acme/e"]
    alone = invoke("compare", "model=acme/d,experiment=default,runs=all", words[1], "--by-model").out
    assert alone.startswith("No scored trial of: acme/d (timeout)\n") and "verdict" not in alone


def test_no_model_in_common_is_one_line(suite: Path, invoke: Invoke) -> None:
    done = invoke("compare", "model=acme/a", "model=acme/b", "--by-model")
    assert done.status == 1 and "have no model in common; leave out --by-model to compare them" in done.err
