"""Which evals set models apart."""

from __future__ import annotations

from convex_evals.analysis.matrix import Matrix, MatrixRow
from convex_evals.records import Counts


def row(name: str, *passed: int) -> MatrixRow:
    """Of three trials each."""
    return MatrixRow(name, {f"m{n}": Counts(passed=p, failed=3 - p) for n, p in enumerate(passed)})


def test_an_eval_that_good_models_pass_discriminates() -> None:
    rows = [row("good", 0, 1, 3), row("same", 0, 2, 3), row("so too", 1, 2, 3)]
    rows += [row("other way", 3, 1, 0), row("all", 3, 3, 3)]
    matrix = Matrix("default", (), rows)
    found = {each.eval_id: matrix.discrimination(each) for each in rows}
    assert found["all"] is None
    assert found["good"] is not None and 0.3 < found["good"] <= 1
    assert found["other way"] is not None and -1 <= found["other way"] < -0.9


def test_two_models_tell_nothing() -> None:
    rows = [row("one", 0, 3), row("other", 0, 3)]
    assert Matrix("default", (), rows).discrimination(rows[0]) is None


def test_models_whose_trials_disagree_are_torn() -> None:
    assert row("eval", 0, 1, 2, 3).torn == ["m1", "m2"]
