"""The ledger: what of a run a deployment was told, on disk before the next step begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.publish.deployments import Deployment
from convex_evals.records.publication import Publication, PublishedTrial
from convex_evals.store.records import find_record, write_record
from convex_evals.store.run import Run

_NOT_STARTED = ("planned", "starting", "withdrawn")
LEDGERS = "published"  # folder in the folder of a run


@dataclass
class Ledger:
    """Of one run and one deployment."""

    path: Path
    root: Path
    record: Publication

    @property
    def is_cut(self) -> bool:
        """Whether a publisher ended in the middle of a trial."""
        return any(t.state in ("starting", "started", "deleting") for t in self.record.trials)

    @property
    def versions(self) -> set[str]:
        """The benchmark versions under which trials are there, as far as they are known."""
        return {trial.version for trial in self.record.trials if trial.version}

    def trial(self, number: int) -> PublishedTrial | None:
        return next((t for t in self.record.trials if t.trial == number), None)

    def write(self, *changed: PublishedTrial) -> None:
        """Put these in place of what is said of the same trials, on disk when it returns."""
        by_number = {t.trial: t for t in (*self.record.trials, *changed)}
        trials = tuple(by_number[n] for n in sorted(by_number))
        self.record = self.record.model_copy(update={"trials": trials})
        write_record(self.path, self.record, self.root)


def open_ledger(run: Run, deployment: Deployment) -> Ledger:
    """Raises `UserError` for one that is of another run, deployment or URL."""
    path, root, about = run.folder / LEDGERS / f"{deployment.name}.json", run.root, deployment.known_as
    if deployment.ledgers is not None:
        root = deployment.ledgers
        path = root / run.folder.relative_to(run.root).with_suffix(".json")
    found = find_record(path, Publication, root)
    record = found or Publication(run_id=run.plan.run_id, deployment=deployment.name, url=about, trials=())
    numbers = [t.trial for t in record.trials]
    if (record.run_id, record.deployment) != (run.plan.run_id, deployment.name):
        raise UserError(f"{path}: is about {record.run_id} and {record.deployment}; restore it from Git")
    if record.url != about:
        raise UserError(
            f"{path}: is about {record.url}, and not about {about}; give the new deployment another name in "
            "convex-evals.yaml"
        )
    if numbers != sorted(set(numbers)) or any(n > run.plan.trials for n in numbers):
        raise UserError(f"{path}: its trials are not of 1 to {run.plan.trials}, in order; restore it from Git")
    if any((t.id is None) != (t.state in _NOT_STARTED) for t in record.trials):
        raise UserError(f"{path}: every trial has an id that was started, and no other; restore it from Git")
    return Ledger(path, root, record)


def was_published(ledger: Ledger) -> bool:
    """Whether the ledger says that anything of the run is there."""
    return any(t.state not in _NOT_STARTED for t in ledger.record.trials)


def published_to(run: Run, local: Path) -> list[str]:
    """Name the deployments that have something of `run`, as its ledgers say; `local` has those of this machine's."""
    folder = run.folder / LEDGERS
    names = sorted(
        n for n, kind in confined.entries(folder, run.root).items() if kind == "file" and n.endswith(".json")
    )
    places = [(folder / name, run.root) for name in names]
    places.append((local / run.folder.relative_to(run.root).with_suffix(".json"), local))
    records = [(find_record(path, Publication, root), path, root) for path, root in places]
    return [r.deployment for r, path, root in records if r and was_published(Ledger(path, root, r))]


def is_settled(run: Run, ledger: Ledger, *, again: bool) -> bool:
    """Whether a run that is not named is left alone: all was sent, or was withdrawn.

    With `again`, what was sent is looked at once more.
    """
    states = {t.state for t in ledger.record.trials}
    if states == {"withdrawn"}:
        return True
    return states == {"published"} and len(ledger.record.trials) == run.plan.trials and not again
