"""Under which benchmark version a run is sent, and which runs are there under an older one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from convex_evals.publish.ledger import Ledger
from convex_evals.records.benchmark import BenchmarkHead, by_id
from convex_evals.store.run import Run
from convex_evals.text import and_more, counted

_NAMED = 3  # runs


@dataclass(frozen=True)
class BenchmarkVersion:
    """What a run is sent as."""

    sent: str
    accepted: frozenset[str]  # a run that is there under one of these need not be sent again


@dataclass(frozen=True)
class BenchmarkVersions:
    """By the benchmarks that have a name here: the newest that has a run's experiment is its own."""

    heads: Sequence[BenchmarkHead]  # newest first

    @cached_property
    def _by_id(self) -> dict[str, list[BenchmarkHead]]:
        return by_id(self.heads)

    def head(self, run: Run) -> BenchmarkHead | None:
        """The newest that has it; None where it is of no minted benchmark."""
        return next(iter(self._by_id.get(run.benchmark, ())), None)

    def of(self, run: Run, *, newest: bool = False) -> BenchmarkVersion:
        """A run of no minted benchmark is sent under its own id; with `newest`, no other version is accepted."""
        own = self.head(run)
        sent = own.version if own else run.benchmark
        older = () if newest else (run.benchmark, *(head.version for head in self._by_id.get(run.benchmark, ())))
        return BenchmarkVersion(sent, frozenset(older) | {sent})

    def name(self, version: str) -> str:
        """Of a minted benchmark; else the beginning of the version."""
        return next((head.name for head in self.heads if head.version == version), version[:8])

    def older(self, published: Iterable[tuple[Run, Ledger]]) -> list[str]:
        """A line for each pair of versions: which runs are there under the one, and not under the newest."""
        found: dict[tuple[str, str], list[str]] = {}
        for run, ledger in published:
            now = self.of(run).sent
            for there in sorted(ledger.versions - {now}):
                found.setdefault((there, now), []).append(run.plan.run_id)
        return [self._line(*key, runs) for key, runs in found.items()]

    def is_older(self, run: Run, ledger: Ledger) -> bool:
        """Whether all that is there of a run is there under older versions."""
        return bool(ledger.versions) and self.of(run).sent not in ledger.versions

    def _line(self, there: str, now: str, runs: Sequence[str]) -> str:
        names = ", ".join(runs[:_NAMED]) + and_more(len(runs) - _NAMED)
        are = "is" if len(runs) == 1 else "are"
        return (
            f"{counted(len(runs), 'run')} of {self.name(now)} {are} there as {self.name(there)}: {names}; "
            f"`cli publish --repair RUN` sends one again as {self.name(now)}"
        )
