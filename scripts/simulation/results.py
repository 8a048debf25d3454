"""What a simulation found: as data, and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from scipy.special import betaincinv


@dataclass(frozen=True)
class Rate:
    """How often a claim was made."""

    setup: str
    what: str
    claims: int
    of: int
    bound: float | None = None  # upper bound; None: no promise

    @property
    def rate(self) -> float:
        return self.claims / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """95 %. Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934), 404-413."""
        k, n = self.claims, self.of
        low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, 0.025))
        return low, 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.975))

    @property
    def ok(self) -> bool:
        return self.bound is None or self.interval[0] <= self.bound


@dataclass(frozen=True)
class Power:
    """Results of experiments with a true effect."""

    setup: str
    effect: float
    experiments: int
    improved: float  # share of them
    regressed: float
    category: float  # at least one category improved
    sure: float  # share of the evals that changed
    covered: float  # the interval holds the effect
    rule: float  # share that the single-sample rule would call essential


@dataclass(frozen=True)
class RecipePower:
    """Results of validating changes that have an effect."""

    setup: str
    truth: str
    experiments: int
    improved: float  # share of them
    regressed: float  # or mixed
    found: float  # share of the evals that changed for the better by half and more
    wrong: float  # share of experiments that confirm an eval which did not change
    covered: float  # the interval holds the effect on the evals that flipped
    calls: float  # mean of an experiment, both sides together


Row = Rate | Power | RecipePower


@dataclass(frozen=True)
class Simulation:
    """All results."""

    rates: Sequence[Rate] = ()
    powers: Sequence[Power] = ()
    recipe: Sequence[RecipePower] = ()

    @property
    def ok(self) -> bool:
        return all(rate.ok for rate in self.rates)


def to_data(found: Simulation) -> dict[str, Any]:
    alarms = [{**asdict(r), "rate": r.rate, "interval": r.interval, "ok": r.ok} for r in found.rates]
    return {
        "false_alarms": alarms,
        "power": [asdict(p) for p in found.powers],
        "recipe": [asdict(p) for p in found.recipe],
    }


def from_data(data: dict[str, Any]) -> Simulation:
    """What `to_data` wrote; docs/statistics.md shows a file of it."""
    names = [field.name for field in fields(Rate)]
    return Simulation(
        [Rate(**{n: row[n] for n in names}) for row in data["false_alarms"]],
        [Power(**row) for row in data["power"]],
        [RecipePower(**row) for row in data["recipe"]],
    )


def of_recipe(found: Simulation) -> tuple[Simulation, Simulation]:
    """What is about comparisons, and what is about the recipe of `cli validate-guidelines`."""
    own = [rate for rate in found.rates if " then " in rate.setup]
    rest = [rate for rate in found.rates if " then " not in rate.setup]
    return Simulation(rest, found.powers), Simulation(own, (), found.recipe)


def render(found: Simulation) -> str:
    lines = ["False alarms: both sides are the same"] if found.rates else []
    before = ""
    for rate in found.rates:
        if rate.setup != before:
            lines.append(f"\n  {rate.setup}")
            before = rate.setup
        low, high = rate.interval
        note = "" if rate.bound is None else "  ok" if rate.ok else f"  ABOVE {rate.bound:.0%}"
        counted = f"{rate.claims} of {rate.of}"
        lines.append(f"    {rate.what:37} {rate.rate:7.2%}  [{low:6.2%}, {high:6.2%}]  {counted:>17}{note}")
    if found.powers:
        lines += ["", "Power: B is truly better by the given number of points", ""]
        header = f"  {'':28} {'effect':>6}  improved  regressed  a category  sure evals  coverage"
        lines.append(f"{header}  rule")
        for p in found.powers:
            rule = f"{p.rule:6.1%}" if p.setup.endswith("evals x 1 trials") else "     -"
            lines.append(
                f"  {p.setup:28} {p.effect * 100:+6.1f}  {p.improved:8.1%}  {p.regressed:9.2%}  {p.category:10.1%}  "
                f"{p.sure:10.1%}  {p.covered:8.1%}  {rule}"
            )
    if found.recipe:
        lines += ["", "Power of the recipe: B is truly better", ""]
        lines.append(f"  {'':30} {'truth':>8}  improved  regressed  evals found  wrong evals  coverage  calls")
        for r in found.recipe:
            lines.append(
                f"  {r.setup:30} {r.truth:>8}  {r.improved:8.1%}  {r.regressed:9.2%}  {r.found:11.1%}  "
                f"{r.wrong:11.2%}  {r.covered:8.1%}  {r.calls:5.0f}"
            )
    return "\n".join(lines)
