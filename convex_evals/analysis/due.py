"""When a model should be asked again: from its age, what a run costs, and when it was asked last. Pure.

A model of which little is known is asked every day, one that has been there for years every two months; an expensive
one less often. What people compare models by is an exception: once the guidelines or the benchmark have changed, the
curated models are due at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

_SHORTEST_DAYS, _LONGEST_DAYS = 1.0, 60.0
_HALFWAY_DAYS = 365.0  # the age at which half of what the interval can grow has been added
_CHEAP_USD, _EXPENSIVE_USD = 5.0, 50.0
_EXPENSIVE_DAYS = 14.0


@dataclass(frozen=True)
class Scheduled:
    """What is known of one model under one experiment."""

    model: str
    experiment: str
    first_seen: date | None = None  # None: unknown; it counts as new
    last_attempt: date | None = None  # UTC day of the last run, or of an attempt that came to nothing; None: never
    cost_usd: float | None = None  # of a run, on average; None: unknown
    changes: tuple[str, ...] = ()  # what is other than at the last attempt, in words; of curated models alone


@dataclass(frozen=True)
class Due:
    """Whether it is time to ask again, and how that was found."""

    asked: Scheduled
    age_days: float  # since the model was first seen; 0 where that is unknown or lies ahead
    by_age_days: float
    by_cost_days: float
    since_days: float | None  # since the last attempt; None: never

    @property
    def interval_days(self) -> float:
        return max(self.by_age_days, self.by_cost_days)

    @property
    def is_due(self) -> bool:
        return self.since_days is None or bool(self.asked.changes) or self.since_days >= self.interval_days

    @property
    def due_at(self) -> datetime | None:
        """When it is or was due by its interval; None where it was never attempted."""
        last = self.asked.last_attempt
        return None if last is None else _start_of(last) + timedelta(days=self.interval_days)

    @property
    def need(self) -> tuple[int, float]:
        """Compared with that of others, the greater the more urgent: never asked, changed, then by how far overdue."""
        if self.since_days is None:
            return 2, -self.age_days
        return int(bool(self.asked.changes)), self.since_days / self.interval_days

    @property
    def why(self) -> list[str]:
        """How it was decided, a line each."""
        own = self.asked
        seen = "unknown, taken for today" if own.first_seen is None else f"{own.first_seen}, {_days(self.age_days)} ago"
        cost = "unknown" if own.cost_usd is None else f"${own.cost_usd:,.2f}"
        lines = [
            f"first seen {seen}: every {_days(self.by_age_days)}, 1 + 59 x age / (age + 365)",
            f"cost of a run {cost}: at least {_days(self.by_cost_days)} apart, 1 up to $5 and 14 from $50 on",
        ]
        if self.since_days is None:
            return [*lines, "never attempted: due"]
        ago, interval = _days(self.since_days), _days(self.interval_days)
        lines.append(f"last attempt {own.last_attempt}, {ago} ago; the interval is {interval}")
        return [*lines, *(f"{change} since: due" for change in own.changes), self._conclusion()]

    def _conclusion(self) -> str:
        at = self.due_at
        assert at is not None
        word = "due since" if self.since_days is not None and self.since_days >= self.interval_days else "due on"
        return f"by its interval {word} {at:%Y-%m-%d %H:%M} UTC"


def decide(scheduled: Iterable[Scheduled], now: datetime) -> list[Due]:
    """The most needed first; `now` has a time zone. Equal ones stand in order of their names."""
    found = [_decide(asked, now) for asked in scheduled]
    found.sort(key=lambda due: (due.asked.model, due.asked.experiment))
    found.sort(key=lambda due: (due.is_due, due.need), reverse=True)
    return found


def _decide(asked: Scheduled, now: datetime) -> Due:
    age = 0.0 if asked.first_seen is None else max(0.0, _days_between(asked.first_seen, now))
    # A run may be of tomorrow where clocks differ.
    since = None if asked.last_attempt is None else max(0.0, _days_between(asked.last_attempt, now))
    return Due(asked, age, interval_by_age(age), interval_by_cost(asked.cost_usd), since)


def interval_by_age(days: float) -> float:
    """In days: 1 for a new model, rising to 60."""
    return _SHORTEST_DAYS + (_LONGEST_DAYS - _SHORTEST_DAYS) * days / (days + _HALFWAY_DAYS)


def interval_by_cost(usd: float | None) -> float:
    """In days: 1 up to $5 a run, rising evenly to 14 at $50. An unknown cost delays nothing."""
    share = 0.0 if usd is None else (usd - _CHEAP_USD) / (_EXPENSIVE_USD - _CHEAP_USD)
    return _SHORTEST_DAYS + (_EXPENSIVE_DAYS - _SHORTEST_DAYS) * min(1.0, max(0.0, share))


def _days_between(day: date, now: datetime) -> float:
    return (now - _start_of(day)) / timedelta(days=1)


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _days(count: float) -> str:
    shown = f"{count:.1f}".removesuffix(".0")
    return f"{shown} day" if shown == "1" else f"{shown} days"
