"""Which trials an export has, and where it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from convex_evals.analysis.selection import select
from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.exports import RunExport
from convex_evals.exports.trials import ExportedRun
from convex_evals.records import Outcome
from convex_evals.sessions.asking import AskedSessions
from convex_evals.store.files import write_pieces
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.asked import AskedReader
from convex_evals.suite.id_filter import id_filter, selection_words
from convex_evals.text import counted

Progress = Callable[[int], None]  # how many pieces of a file are written


def choose(
    names: Sequence[str], workspace: Workspace, patterns: Sequence[str], outcomes: Iterable[str]
) -> list[ExportedRun]:
    """Return the runs that `names` mean, each once, in the same order on every machine.

    Raises `UserError` where none of their evals is chosen, or none of those is done.
    """
    ids = id_filter(patterns)
    reader = AskedReader(workspace.suite, AskedSessions(workspace.suite).asked)
    wanted = frozenset(map(Outcome, outcomes)) or frozenset(Outcome)
    runs = [ExportedRun(run, reader, ids, wanted) for run in _named(names, workspace)]
    _refuse_nothing(runs, patterns)
    return runs


def _named(names: Sequence[str], workspace: Workspace) -> list[Run]:
    store = RunStore(workspace.runs_dir)

    def runs_of(name: str) -> Sequence[Run]:
        return select(name, workspace, store).runs if "=" in name else store.find_all([name])

    found = [run for name in names for run in runs_of(name)]
    unique = {run.folder: run for run in found}.values()
    return sorted(unique, key=lambda run: (run.plan.model, run.plan.date, run.plan.run_id))


def _refuse_nothing(runs: Sequence[ExportedRun], patterns: Sequence[str]) -> None:
    if not any(run.chosen for run in runs):
        shown = runs[0].run.plan.run_id
        words = selection_words({"-f": patterns})
        raise UserError(f"no eval of these runs matches {words}; `cli show {shown}` lists those of the first")
    if not any(set(run.chosen) - set(run.unfinished) for run in runs):
        shown = runs[0].run.plan.run_id
        raise UserError(f"{shown}: no eval is done yet; `cli run --run {shown}` resumes it")


def notes(runs: Sequence[ExportedRun]) -> list[str]:
    """Say what a reader may miss in an export that was written, a line each."""
    found = []
    unfinished = sum(len(run.unfinished) for run in runs)
    if unfinished:
        found.append(f"left out {counted(unfinished, 'eval')}: not done yet")
    if not any(True for run in runs for _ in run.trials()):
        found.append("no trial is exported: none has such an outcome")
    left_out = sum((run.left_out for run in runs), Counter[str]())
    found += [f"left out {counted(number, 'trial')}: {why}" for why, number in sorted(left_out.items())]
    return found


def write(runs: Sequence[ExportedRun], form: RunExport, path: Path, progress: Progress) -> list[Path]:
    """Write the file, or a file for each run into the folder `path`, each as a whole or not at all; return the files.

    Raises `UserError`.
    """
    if form.name_of is None:
        files: dict[Path, Sequence[ExportedRun]] = {path: runs}
    else:
        files = {path / form.name_of(run): [run] for run in runs}
    if len(files) < len(runs) and form.name_of:
        raise UserError("two of these runs would have files of the same name; export them into folders of their own")
    for file, own in files.items():
        write_pieces(file, _followed(form.write(own), progress))
    return list(files)


def _followed(pieces: Iterable[bytes], progress: Progress) -> Iterator[bytes]:
    for number, piece in enumerate(pieces, 1):
        progress(number)
        yield piece
