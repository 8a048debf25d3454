"""What a model's place on a leaderboard says besides its rank."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from convex_evals.analysis.leaderboard_tables import leaderboard_section, rank_words
from convex_evals.analysis.ranking import Leaderboard, Ranking, Standing, ranked
from convex_evals.records import Summary
from convex_evals.render.plain import plain
from tests.conftest import Invoke
from tests.factories import make_eval, make_run

EVALS = [f"{n // 10:03}-part/{n % 10:03}-eval" for n in range(40)]


def summary(runs: Path, model: str, row: str, run_id: str = "one", *, trials: int = 1) -> Summary:
    """Of forty evals, a letter each for all their trials."""
    found = make_run(runs, {e: own * trials for e, own in zip(EVALS, row, strict=True)}, model=model, run_id=run_id)
    made = found.summary()
    assert made is not None
    return made


def test_models_that_cannot_be_told_apart_share_their_ranks(tmp_path: Path) -> None:
    rows = {"a/first": "p" * 36 + "f" * 4, "a/second": "p" * 34 + "f" * 6, "a/last": "p" * 10 + "f" * 30}
    found = ranked([[summary(tmp_path, model, row)] for model, row in rows.items()])
    assert [(s.latest.model, s.rank, s.ranks, rank_words(s)) for s in found] == [
        ("a/first", 1, (1, 2), "1-2*"),
        ("a/second", 2, (1, 2), "1-2*"),
        ("a/last", 3, (3, 3), "3*"),
    ]


def test_three_runs_of_forty_evals_are_no_longer_provisional(tmp_path: Path) -> None:
    runs = [summary(tmp_path, "a/model", "p" * 20 + "f" * 20, name) for name in ("one", "two", "three")]
    few, enough = ranked([runs[:2]])[0], ranked([runs])[0]
    assert few.provisional and not enough.provisional and rank_words(enough) == "1"
    kind, these = enough.rate.interval, enough.rate.interval_these_evals
    assert kind and these and kind[0] < these[0] < 0.5 < these[1] < kind[1]
    assert enough.rate_of("000-part").pass_rate == 1 and enough.rate_of("003-part").pass_rate == 0


def test_what_a_pass_costs_and_how_long_a_reply_takes(tmp_path: Path) -> None:
    (found,) = ranked([[summary(tmp_path, "a/model", "p" * 10 + "f" * 30)]])
    assert found.cost_per_eval is not None and found.cost_per_pass is not None
    assert round(found.cost_per_pass / found.cost_per_eval, 9) == 4
    (none,) = ranked([[summary(tmp_path, "a/other", "f" * 40)]])
    assert none.cost_per_pass is None and none.cost_per_eval
    slow = found.latest.model_copy(
        update={
            "evals": {
                name: own.model_copy(update={"replies_ms": (1000 * (n + 1),)})
                for n, (name, own) in enumerate(found.latest.evals.items())
            }
        }
    )
    standing = Standing((slow,))
    assert [standing.reply_ms(share) for share in (0.5, 0.95, 1.0)] == [20_000, 38_000, 40_000]
    empty = slow.model_copy(
        update={"evals": {name: own.model_copy(update={"replies_ms": ()}) for name, own in slow.evals.items()}}
    )
    assert Standing((empty,)).reply_ms(0.5) is None


def test_all_of_k_trials(tmp_path: Path) -> None:
    """Shown where each eval has several trials in a run, of as many as all runs have."""
    steady = summary(tmp_path, "a/steady", "p" * 20 + "f" * 20, trials=3)
    mixed = make_run(tmp_path, dict.fromkeys(EVALS, "ppf"), model="a/mixed", run_id="one").summary()
    assert mixed is not None
    board = ranked([[steady], [mixed]])
    ranking = Ranking("default", board)
    assert ranking.trials == 3
    assert {s.latest.model: s.pass_hat_k(3) for s in board} == {"a/steady": 0.5, "a/mixed": 0.0}
    assert {s.latest.model: round(s.pass_hat_k(2) or 0, 6) for s in board} == {"a/steady": 0.5, "a/mixed": 0.333333}
    assert "pass^3" in plain(leaderboard_section(Leaderboard([ranking], ())))
    single = ranked([[steady], [summary(tmp_path, "a/single", "p" * 40)]])
    assert Ranking("default", single).trials == 1
    assert "pass^" not in plain(leaderboard_section(Leaderboard([Ranking("default", single)], ())))


def test_a_run_with_more_than_a_twentieth_unscored_is_not_ranked(tmp_path: Path, invoke: Invoke) -> None:
    """A rate over what a provider liked to deliver is none of the model's."""
    make_eval(tmp_path)
    for model, letters in {"a/few": "u" * 2 + "p" * 38, "a/many": "u" * 3 + "p" * 37, "a/all": "f" * 40}.items():
        make_run(tmp_path / "runs", dict(zip(EVALS, letters, strict=True)), model=model, run_id="one")
    found = json.loads(invoke("leaderboard", "--json").out)
    assert [(each["model"], each["counts"]["unscored"]) for each in found["standings"]] == [("a/few", 2), ("a/all", 0)]
    assert found["left_out"] == {"with more than 5% of their trials unscored": 1}
    told = invoke("leaderboard").out
    assert "Without a verdict: 5.0% of the trials of a/few under default." in told
    assert "`cli status RUN` says how to ask again" in told and "verdict: 0" not in told
    (header, row, *_) = csv.reader(invoke("leaderboard", "--format", "csv").out.splitlines())
    assert dict(zip(header, row, strict=True))["unscored"] == "2"
