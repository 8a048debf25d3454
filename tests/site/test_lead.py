"""The sentence above the leaderboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.analysis.ranking import ranked
from convex_evals.records import Summary
from convex_evals.site.pages.leaderboard import Row, lead
from tests.factories import make_run


def summary(runs: Path, model: str, row: str) -> Summary:
    made = make_run(runs, {f"000-a/{n:03}-eval": letter for n, letter in enumerate(row)}, model=model).summary()
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, ""),
        ({"a": "p" * 10}, "a leads with 100% (95 % interval 72-100%); no other model is ranked."),
        (
            {"a": "p" * 10, "b": "p" * 9 + "f"},
            "a leads with 100% (95 % interval 72-100%), but not clearly: b may be as good.",
        ),
        ({"a": "p" * 10, "b": "p" * 10, "c": "f" * 10}, "a and b lead with 100% (95 % interval 72-100%), clearly: "),
        (
            {"a": "p" * 5, "b": "p" * 5, "c": "p" * 5},
            "a, b and c lead with 100% (95 % interval 56-100%); no other model",
        ),
        (dict.fromkeys("abcde", "p" * 5), "a, b and 3 others lead with 100%"),
    ],
)
def test_who_leads_and_how_sure_that_is(rows: dict[str, str], said: str, tmp_path: Path) -> None:
    standings = ranked([[summary(tmp_path, f"acme/{name}", row)] for name, row in rows.items()])
    found = lead([Row(each, each.latest.model.partition("/")[2], (), (), None, None) for each in standings])
    assert found.startswith(said) if said else found == ""
