"""Runs that are deleted: their folders, and what this machine's journal has of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.store.batches import BatchFolder
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.text import counted


@dataclass(frozen=True)
class Deletion:
    """What is deleted of a run."""

    run: Run
    files: Sequence[Path]
    size: int  # bytes
    journalled: int  # trials of evals that are not written yet

    @classmethod
    def of(cls, run: Run, journal_dir: Path) -> Deletion:
        """Raises `UserError` where batches go on whose replies would be lost, though they are paid for."""
        pending = BatchFolder(run).pending()
        if pending:
            raise UserError(
                f"{run.plan.run_id}: {counted(pending, 'trial')} in batches that go on and are paid for; "
                f"`cli run --run {run.plan.run_id}` takes up the replies"
            )
        files = list(_files(run.folder, run.root))
        journalled = Journal(journal_dir, run.plan).of_unwritten(run)
        return cls(run, files, run.size_of(files), sum(map(len, journalled.values())))

    def do(self, journal_dir: Path) -> None:
        """Delete it. Raises `UserError` where a process is at the run, or something of it cannot be deleted."""
        journal = Journal(journal_dir, self.run.plan)
        with journal.locked():
            confined.remove_tree(self.run.folder, self.run.root)
            if confined.kind_of(self.run.folder, self.run.root):
                raise UserError(f"{self.run.folder}: could not be deleted; fix its permissions")
            journal.drop()


def _files(folder: Path, root: Path) -> Iterator[Path]:
    for name, kind in confined.entries(folder, root).items():
        if kind == "folder":
            yield from _files(folder / name, root)
        else:
            yield folder / name
