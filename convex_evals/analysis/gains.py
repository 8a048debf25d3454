"""What an experiment changes: models under it against the same models under another, such as without guidelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.compare.tables import models_table
from convex_evals.analysis.compare.to_data import paired_to_data
from convex_evals.analysis.pairing import pairs
from convex_evals.analysis.ranking import Leaderboard, Ranking
from convex_evals.config import Experiment, bare_experiment
from convex_evals.render.model import Section
from convex_evals.stats import Paired, family, paired

_GUIDED = "default"


@dataclass(frozen=True)
class Gain:
    """Two rankings, model by model, over the evals that both judge alike."""

    before: Ranking
    after: Ranking
    models: Mapping[str, Paired]  # of both, in the order of `after`; verdicts are corrected for their number

    def to_section(self) -> Section:
        names = (self.before.experiment, self.after.experiment)
        return Section.of(models_table(self.models, names), heading=f"{self.after.name} against {self.before.name}")

    def to_data(self) -> dict[str, Any]:
        """Full precision: a is before, b is after; rates and differences are shares of 1, a difference is b less a."""
        return {
            "before": self.before.experiment,
            "after": self.after.experiment,
            "models": [{"model": model, **paired_to_data(one)} for model, one in self.models.items()],
        }


def gain(before: Ranking, after: Ranking) -> Gain:
    known = {standing.latest.model: standing for standing in before.standings}
    found = {}
    for standing in after.standings:
        model = standing.latest.model
        own = pairs(known[model].runs, standing.runs) if model in known else []
        if own := [pair for pair in own if standing.only is None or pair.eval in standing.only]:
            found[model] = paired(own)
    return Gain(before, after, family(found))


def gains(board: Leaderboard, experiments: Mapping[str, Experiment]) -> Iterator[Gain]:
    """Of each ranking against the one without guidelines; where that is not ranked, against the first.

    Those that have no model in common are left out.
    """
    if not board.rankings:
        return
    bare = bare_experiment(experiments, _GUIDED)
    base = next((each for each in board.rankings if each.experiment == bare), board.rankings[0])
    for each in board.rankings:
        found = gain(base, each) if each is not base else None
        if found and found.models:
            yield found
