"""Names on the command line to solvers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.models import Solver
from convex_evals.models.batching.providers import refuse_unbatched
from convex_evals.models.budget import Budget
from convex_evals.models.catalog import Catalog, find_model
from convex_evals.models.keys import missing_keys, refuse_missing_keys
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.price import batch_tariff_of, can_search, most_output_tokens, tariff_of
from convex_evals.models.reference import SLUG, ReferenceSolver
from convex_evals.models.replay import DEMO_SLUG, open_demo, open_replay
from convex_evals.models.retries import ModelSolver
from convex_evals.models.servers import refuse_stranger

REPLAY = "replay:"


def is_stand_in(model: str) -> bool:
    """Whether this is the slug of recorded replies or reference answers, rather than of a model."""
    return model in (SLUG, DEMO_SLUG) or model.startswith("replay/")


def refuse_without_keys(solvers: Iterable[Solver]) -> None:
    """Raise `UserError`, on one line for all, where one of these would ask a model without its key."""
    refuse_missing_keys([solver.entry for solver in solvers if isinstance(solver, ModelSolver)])


def without_keys(solvers: Iterable[Solver]) -> str | None:
    """The same line, None where every model has its key."""
    return missing_keys([solver.entry for solver in solvers if isinstance(solver, ModelSolver)])


@dataclass
class SolverFactory:
    """Makes solvers; those of one provider share its limit, all share the budget."""

    models: Catalog
    concurrency: int
    budget: Budget
    timeout: float | None = None  # seconds of silence after which a request is given up; None: the usual ones
    _limits: dict[str, ProviderLimit] = field(default_factory=dict)

    def synthetic(self, name: str) -> Solver | None:
        """What stands in for a model under this name; None where it is the name of a model. Raises `UserError`."""
        if name in (SLUG, SLUG.partition("/")[0]):
            return ReferenceSolver()
        if name in (DEMO_SLUG, DEMO_SLUG.partition("/")[0]):
            return open_demo()
        if name.startswith(REPLAY):
            return open_replay(Path(name.removeprefix(REPLAY)))
        return None

    def model(self, name: str, *, web_search: bool, extra: Mapping[str, Any], at_once: bool = False) -> ModelSolver:
        """Make the solver of a model under one experiment; `at_once`: never in batches. Raises `UserError`."""
        entry = find_model(name, self.models)
        refuse_stranger(entry)
        refuse_unbatched(entry)
        # No provider says that its batches search the web.
        batched = entry.batch and not web_search and not at_once
        tariff = batch_tariff_of(entry) if batched else tariff_of(entry)
        if self.budget.limit is not None and tariff.price is None:
            raise UserError(
                f"-m {entry.slug}: its price is not known, so --budget cannot be enforced; "
                f"give `price: {{input: ..., output: ...}}` in models.yaml, or leave --budget out"
            )
        limit = self._limits.setdefault(entry.provider, ProviderLimit(self.concurrency))
        most = most_output_tokens(entry)
        return ModelSolver(
            *(entry, tariff, most, limit, self.budget, web_search, dict(extra)),
            batched=batched,
            timeout=self.timeout,
        )

    def searches(self, name: str) -> bool:
        """Whether this model has its provider's web search."""
        return can_search(find_model(name, self.models))
