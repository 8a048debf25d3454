"""What `cli due` decides from: the models of the schedule, their runs, guidelines and benchmarks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from statistics import fmean

from convex_evals.analysis.due import Due, Scheduled, decide
from convex_evals.config import CONFIG_NAME, Workspace
from convex_evals.errors import UserError
from convex_evals.models.catalog import Catalog, load_catalog
from convex_evals.records import RunPlan, Summary
from convex_evals.records.benchmark import BenchmarkHead, benchmark_id
from convex_evals.records.models import ModelEntry
from convex_evals.runs.named_text import guidelines_text
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import guidelines_sha256
from convex_evals.suite.suite import load_suite

_TAG = "tag:"
_AVERAGED = 5  # of the latest runs, for the cost of one


@dataclass
class RunsOf:
    """The runs of one model under one experiment, newest first."""

    runs: list[tuple[RunPlan, Summary | None]] = field(default_factory=list)

    @property
    def newest(self) -> RunPlan | None:
        return self.runs[0][0] if self.runs else None

    @property
    def cost_usd(self) -> float | None:
        """What the replies of the latest complete runs cost, on average. None where there is no such run."""
        found = [s.replies_cost_usd for _, s in self.runs if s and not s.missing and s.counts.scored]
        return fmean(found[:_AVERAGED]) if found else None


@dataclass(frozen=True)
class Wanted:
    """What a new run of one experiment would be of."""

    guidelines_sha256: str | None
    benchmark: BenchmarkHead | None  # the newest that was minted

    def changes(self, newest: RunPlan) -> tuple[str, ...]:
        """What is other than at the run `newest`, in words."""
        found = []
        if newest.guidelines_sha256 != self.guidelines_sha256:
            found.append(f"the guidelines have changed to {(self.guidelines_sha256 or 'none')[:8]}")
        head = self.benchmark
        if head and newest.date <= head.date and benchmark_id(newest) not in head.ids:
            found.append(f"benchmark {head.name} was minted ({head.date})")
        return tuple(found)


def find_due(workspace: Workspace, now: datetime | None = None) -> list[Due]:
    """Each model and experiment of the schedule, the most needed first. Raises `UserError`."""
    if not workspace.is_own:
        raise UserError("the schedule of a suite that -C names is not read: it decides what you pay for; leave out -C")
    return decide(scheduled(workspace), now or datetime.now(UTC))


def scheduled(workspace: Workspace) -> list[Scheduled]:
    """What is known of each model and experiment of the schedule."""
    schedule, catalog = workspace.config.schedule, load_catalog(workspace.home)
    entries = chosen(schedule.models, catalog, "schedule.models")
    curated = {entry.slug for entry in chosen(schedule.curated, catalog, "schedule.curated")}
    least = len(load_suite(workspace.suite).evals) / 2
    histories = read_histories(RunStore(workspace.runs_dir), {entry.slug for entry in entries}, least)
    first_runs = _first_runs(histories)
    wanted = {name: _wanted(workspace, name) for name in schedule.experiments}
    found = []
    for entry in entries:
        first_seen = entry.first_seen or first_runs.get(entry.slug)
        for name, current in wanted.items():
            named = curated | set(current.benchmark.models if current.benchmark else ())
            history = histories.get((entry.slug, name), RunsOf())
            found.append(_scheduled(entry.slug, name, first_seen, history, current if entry.slug in named else None))
    return found


def _scheduled(
    model: str, experiment: str, first_seen: date | None, history: RunsOf, current: Wanted | None
) -> Scheduled:
    newest = history.newest
    return Scheduled(
        model=model,
        experiment=experiment,
        first_seen=first_seen,
        last_attempt=date.fromisoformat(newest.date) if newest else None,
        cost_usd=history.cost_usd,
        changes=current.changes(newest) if current and newest else (),
    )


def chosen(names: Sequence[str] | None, catalog: Catalog, where: str) -> list[ModelEntry]:
    """The models that a setting means, each once; None: all of the repository's own. Raises `UserError`."""
    if names is None:
        return list(catalog.own)
    by_slug = {entry.slug: entry for entry in catalog.entries}
    found: dict[str, ModelEntry] = {}
    for name in names:
        if name.startswith(_TAG):
            tag = name.removeprefix(_TAG)
            found |= {entry.slug: entry for entry in catalog.own if tag in entry.tags}
        elif name in by_slug:
            found[name] = by_slug[name]
        else:
            raise UserError(f"{CONFIG_NAME}: {where}: no model {name}; `cli models list` shows what is there")
    return list(found.values())


def read_histories(store: RunStore, slugs: Collection[str], least: float) -> Mapping[tuple[str, str], RunsOf]:
    """By model and experiment. Runs of stand-ins count for nothing, and so do those of fewer than `least` evals."""
    found: dict[tuple[str, str], RunsOf] = {}
    if slugs:
        for run, summary in store.readable():
            if run.plan.model in slugs and not run.plan.synthetic and len(run.plan.evals) >= least:
                found.setdefault((run.plan.model, run.plan.experiment), RunsOf()).runs.append((run.plan, summary))
    return found


def _first_runs(histories: Mapping[tuple[str, str], RunsOf]) -> Mapping[str, date]:
    """The day of each model's first run, under whichever experiment."""
    found: dict[str, date] = {}
    for (model, _), history in histories.items():
        day = date.fromisoformat(min(plan.date for plan, _ in history.runs))
        found[model] = min(day, found.get(model, day))
    return found


def _wanted(workspace: Workspace, name: str) -> Wanted:
    where = workspace.config.experiment(name).guidelines
    text = guidelines_text(where, workspace.suite, given=False) if where else None
    heads = (head for head in BenchmarkFolder(workspace.home).heads() if name in head.experiments)
    return Wanted(None if text is None else guidelines_sha256(text), next(heads, None))


@dataclass(frozen=True)
class Chosen:
    """What is due and fits the budget."""

    due: tuple[Due, ...]
    left_out: tuple[str, ...]  # lines: what is due and does not fit


def within(due: Iterable[tuple[Due, float | None]], budget: float | None) -> Chosen:
    """The most needed that a budget in dollars pays for, by what each costs. One that is too expensive is passed over.

    An unknown cost counts as nothing here: the budget of the run itself ends it.
    """
    left = budget
    taken, left_out = [], []
    for each, usd in due:
        if left is not None and (usd or 0.0) > left:
            own = each.asked
            left_out.append(f"{own.model}, {own.experiment}: due, costs about ${usd:,.2f}, and ${left:,.2f} are left")
            continue
        taken.append(each)
        left = None if left is None else left - (usd or 0.0)
    return Chosen(tuple(taken), tuple(left_out))
