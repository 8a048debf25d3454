"""How well two judges of the same things agree, beyond what chance would have them agree on."""

from __future__ import annotations

from dataclasses import dataclass

_DRAWS = 40_000
_PRIOR = 0.5  # of each cell, as Jeffreys has it


@dataclass(frozen=True)
class Agreement:
    """Things by what both judges said: `yes_no` are those that the first accepted and the second did not."""

    yes_yes: int
    yes_no: int
    no_yes: int
    no_no: int

    @property
    def number(self) -> int:
        return self.yes_yes + self.yes_no + self.no_yes + self.no_no

    @property
    def observed(self) -> float | None:
        """The share that both said the same of; None of nothing."""
        return (self.yes_yes + self.no_no) / self.number if self.number else None

    @property
    def has_both(self) -> bool:
        """Whether the first judge accepted some and refused some: of one kind alone, nothing can be told."""
        return self.yes_yes + self.yes_no > 0 and self.no_yes + self.no_no > 0

    def kappa(self) -> float | None:
        """Return Cohen's kappa, -1 to 1: 0 is agreement by chance. None where the first judge said one thing alone.

        Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
        (1960), 37-46.
        """
        if not self.has_both or self.observed is None:
            return None
        chance = self._by_chance()
        return (self.observed - chance) / (1 - chance)

    def _by_chance(self) -> float:
        first, second = self.yes_yes + self.yes_no, self.yes_yes + self.no_yes
        n = self.number
        return (first * second + (n - first) * (n - second)) / n**2

    def interval(self, *, seed: int = 0) -> tuple[float, float] | None:
        """Return the 95 % interval of kappa, both ends rounded outwards to 0.01; None where there is no kappa.

        The middle 95 % of kappa under Jeffreys' prior for the four cells, drawn. Few things make it wide even where
        the judges always agreed: there, the usual standard error is 0, and so is the bootstrap's.
        Source: S. Basu, M. Banerjee and A. Sen, "Bayesian inference for kappa from single and multiple studies",
        Biometrics 56 (2000), 577-582.
        """
        if not self.has_both:
            return None
        import numpy as np

        cells = np.array([self.yes_yes, self.yes_no, self.no_yes, self.no_no]) + _PRIOR
        draws = np.random.default_rng(seed).dirichlet(cells, _DRAWS)
        first, second = draws[:, 0] + draws[:, 1], draws[:, 0] + draws[:, 2]
        chance = first * second + (1 - first) * (1 - second)
        kappas = (draws[:, 0] + draws[:, 3] - chance) / (1 - chance)
        low, high = np.quantile(kappas, [0.025, 0.975])
        # Where the judges always agreed, or never, kappa is at the end of what it can be.
        ends = [*(float(np.floor(low * 100) / 100), float(np.ceil(high * 100) / 100)), self.kappa() or 0.0]
        return min(ends), max(ends)
