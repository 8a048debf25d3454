"""When models are asked again: intervals worked out by hand, and what holds for all."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.analysis.due import Scheduled, decide, interval_by_age, interval_by_cost

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
TODAY = NOON.date()
CHANGED = ("the guidelines have changed to 12345678",)


def days_ago(count: int) -> date:
    return TODAY - timedelta(days=count)


# Age in days at noon, since midnight of the last attempt, dollars of a run; then the interval in days and whether it is
# due. By hand: 1 + 59 a / (a + 365), and 1 + 13 (usd - 5) / 45, between 1 and 14.
CASES = [
    # New models: their age barely counts.
    (0, None, None, 1.0807, True),
    (0, 0, 1.0, 1.0807, False),
    (0, 1, 1.0, 1.0807, True),
    (1, 1, 1.0, 1.2415, True),
    (1, 0, 1.0, 1.2415, False),
    (3, 1, 1.0, 1.5604, False),
    (3, 2, 1.0, 1.5604, True),
    (7, 1, 1.0, 2.1879, False),
    (7, 2, 1.0, 2.1879, True),
    (10, 2, 1.0, 2.6498, False),
    (10, 3, 1.0, 2.6498, True),
    (30, 4, 1.0, 5.5499, False),
    (30, 5, 1.0, 5.5499, False),
    (30, 6, 1.0, 5.5499, True),
    (90, 12, 1.0, 12.7223, False),
    (90, 13, 1.0, 12.7223, True),
    # A year: half of 59 days, and one.
    (365, 30, 1.0, 30.5202, False),
    (365, 31, 1.0, 30.5202, True),
    (730, 40, 1.0, 40.3423, True),
    (730, 39, 1.0, 40.3423, False),
    (3650, 54, 1.0, 54.6370, False),
    (3650, 55, 1.0, 54.6370, True),
    # What a run costs: nothing more up to $5, then evenly up to $50.
    (0, 0, 5.0, 1.0807, False),
    (0, 1, 5.0, 1.0807, True),
    (0, 1, 5.9, 1.26, True),
    (0, 1, 9.5, 2.3, False),
    (0, 2, 9.5, 2.3, True),
    (0, 4, 18.5, 4.9, False),
    (0, 5, 18.5, 4.9, True),
    (0, 7, 27.5, 7.5, True),
    (0, 6, 27.5, 7.5, False),
    (0, 10, 41.0, 11.4, False),
    (0, 11, 41.0, 11.4, True),
    (0, 13, 50.0, 14.0, False),
    (0, 14, 50.0, 14.0, True),
    (0, 13, 500.0, 14.0, False),
    (0, 14, 500.0, 14.0, True),
    # The greater of the two.
    (90, 13, 50.0, 14.0, False),
    (90, 14, 50.0, 14.0, True),
    (365, 31, 50.0, 30.5202, True),
    (365, 30, 50.0, 30.5202, False),
    (30, 6, None, 5.5499, True),
]


@pytest.mark.parametrize(("age", "since", "usd", "interval", "is_due"), CASES)
def test_worked_out_by_hand(age: int, since: int | None, usd: float | None, interval: float, is_due: bool) -> None:
    last = None if since is None else days_ago(since)
    [found] = decide([Scheduled("a/b", "default", days_ago(age), last, usd)], NOON)
    assert found.interval_days == pytest.approx(interval, abs=0.00006)
    assert found.is_due is is_due


def test_a_change_makes_it_due_at_once() -> None:
    [found] = decide([Scheduled("a/b", "default", days_ago(400), days_ago(0), 60.0, CHANGED)], NOON)
    assert found.is_due and found.why[-2] == "the guidelines have changed to 12345678 since: due"


def test_the_most_needed_first() -> None:
    scheduled = [
        Scheduled("a/rested", "default", days_ago(400), days_ago(1)),
        Scheduled("a/overdue", "default", days_ago(400), days_ago(100)),
        Scheduled("a/more_overdue", "default", days_ago(30), days_ago(100)),
        Scheduled("a/changed", "default", days_ago(400), days_ago(1), changes=CHANGED),
        Scheduled("a/never", "no_guidelines", days_ago(9), None),
        Scheduled("a/never", "default", days_ago(9), None),
        Scheduled("a/newest", "default", days_ago(1), None),
    ]
    names = ["newest", "never", "never", "changed", "more_overdue", "overdue", "rested"]
    found = decide(scheduled, NOON)
    assert [d.asked.model for d in found] == [f"a/{name}" for name in names]
    assert [d.asked.experiment for d in found[1:3]] == ["default", "no_guidelines"]
    assert [d.is_due for d in found] == [True] * 6 + [False]


def test_why() -> None:
    [found] = decide([Scheduled("a/b", "default", days_ago(30), days_ago(5), 27.5)], NOON)
    assert found.why == [
        "first seen 2026-10-26, 30.5 days ago: every 5.5 days, 1 + 59 x age / (age + 365)",
        "cost of a run $27.50: at least 7.5 days apart, 1 up to $5 and 14 from $50 on",
        "last attempt 2026-11-20, 5.5 days ago; the interval is 7.5 days",
        "by its interval due on 2026-11-27 12:00 UTC",
    ]


DAYS = st.integers(0, 4_000)
COSTS = st.none() | st.floats(0, 1_000)
SCHEDULED = st.builds(
    Scheduled,
    model=st.sampled_from(["a/a", "b/b", "c/c"]),
    experiment=st.sampled_from(["default", "no_guidelines"]),
    first_seen=st.none() | DAYS.map(days_ago),
    last_attempt=st.none() | st.integers(-3, 4_000).map(days_ago),
    cost_usd=COSTS,
    changes=st.sampled_from([(), CHANGED]),
)


@given(DAYS, DAYS, COSTS, COSTS)
def test_intervals_grow_and_have_ends(one: int, other: int, usd: float | None, dearer: float | None) -> None:
    young, old = sorted((one, other))
    assert 1 <= interval_by_age(young) <= interval_by_age(old) < 60
    cheap, dear = sorted((usd or 0.0, dearer or 0.0))
    assert 1 <= interval_by_cost(cheap) <= interval_by_cost(dear) <= 14


@given(st.lists(SCHEDULED, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(scheduled: list[Scheduled], random: object) -> None:
    shuffled = sorted(scheduled, key=lambda _: random.random())  # type: ignore[attr-defined]
    key = [(d.is_due, d.need, d.asked.model, d.asked.experiment) for d in decide(scheduled, NOON)]
    assert key == [(d.is_due, d.need, d.asked.model, d.asked.experiment) for d in decide(shuffled, NOON)]
    assert [each[0] for each in key] == sorted((each[0] for each in key), reverse=True)


@given(SCHEDULED, st.floats(0, 200))
def test_what_is_due_stays_due_until_it_is_attempted(asked: Scheduled, days: float) -> None:
    [now] = decide([asked], NOON)
    [later] = decide([asked], NOON + timedelta(days=days))
    # The interval grows more slowly than time passes: 59 days in a life, at most 0.17 a day.
    assert later.is_due or not now.is_due


def test_ten_thousand_models() -> None:
    models = [Scheduled(f"a/{n}", "default", days_ago(n % 900), days_ago(n % 70), float(n % 60)) for n in range(10_000)]
    begun = time.process_time()
    assert len(decide(models, NOON)) == 10_000
    assert time.process_time() - begun < 5  # ten times what it may take; bench/due.py measures it
