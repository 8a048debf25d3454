"""Projects that are graded beside and after attacks, and that must not notice.

What a trial may change for another, it changes through something they share: the checker with its parsed libraries,
packages, kept answers, compiled graders, the machine. Each of these is used by a neighbour, in another way.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from math import lcm

from convex_evals.grading.packages import PackageError, parse_dependencies
from convex_evals.grading.service import GradingService
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.suite.suite import Eval
from tests.attacks.caches import Caches, Entries, differences
from tests.attacks.making import FUNCTION, Files

NOTES, COMPONENT = "001-neighbours/000-notes", "001-neighbours/001-component"
# Generous: attacks on the other worker may have the machine for as long as their steps last, and tests share it with
# other tests. `bench/neighbours.py` is precise.
_FACTOR, _SECONDS = 10.0, 30.0
_SHOWN = 400


@dataclass(frozen=True)
class Neighbour:
    """An honest project, right or wrong."""

    name: str
    ev: Eval
    files: Mapping[str, str]
    source: str  # a file of it that may end in a comment
    caught_by: StepName | None  # None where it is right

    def variant(self) -> Files:
        """The same project, with a comment that makes its bytes new: nothing that is remembered of it will do."""
        return {**self.files, self.source: f"{self.files[self.source]}// {secrets.token_hex(8)}\n"}


@dataclass(frozen=True)
class Graded:
    """A neighbour at some time."""

    name: str
    seconds: float  # of its steps
    ratio: float  # to what they take when nothing hostile is around


@dataclass(frozen=True)
class Kept:
    """What neighbours and caches were after an attack."""

    graded: tuple[Graded, ...] = ()
    problems: tuple[str, ...] = ()

    def __add__(self, other: Kept) -> Kept:
        return Kept(self.graded + other.graded, self.problems + other.problems)

    @property
    def line(self) -> str:
        """For people."""
        names = ", ".join(f"{g.name} {g.seconds:.1f} s ({g.ratio:.1f}x)" for g in self.graded)
        return f"{names}: {'; '.join(self.problems) or 'as before, caches too'}"


def neighbours_of(evals: Mapping[str, Eval]) -> list[Neighbour]:
    """A right one and a wrong one by turns."""
    notes = evals[NOTES]
    right = [
        _right("right", notes, "convex/notes.ts"),
        _right("right, in Node.js", evals[FUNCTION], "convex/attack.ts"),
        _right("right, with a component", evals[COMPONENT], "convex/posts.ts"),
    ]
    wrong = [
        Neighbour(f"wrong at {project.caught_by}", notes, project.files, "convex/notes.ts", project.caught_by)
        for project in notes.wrong()
    ]
    pairs = lcm(len(right), len(wrong))
    return [found for at in range(pairs) for found in (right[at % len(right)], wrong[at % len(wrong)])]


def _right(name: str, ev: Eval, source: str) -> Neighbour:
    return Neighbour(name, ev, ev.answer().files, source, None)


def said(verdict: Verdict) -> tuple[object, ...]:
    """All that a verdict says, but how long it took."""
    steps = tuple((step.step.value, step.outcome.value, step.reason) for step in verdict.steps)
    tests = tuple((test.name, str(test.outcome), test.message) for test in verdict.tests)
    return (verdict.outcome.value, verdict.caught_by, verdict.score, steps, tests)


@dataclass
class Neighbourhood:
    """Neighbours and caches as they are before anything hostile comes near."""

    neighbours: Sequence[Neighbour]
    caches: Caches
    usual: dict[str, tuple[tuple[object, ...], float]] = field(default_factory=dict)  # what is said, in seconds
    state: Entries = field(default_factory=dict)
    content: Entries = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)  # packages, by any attack so far
    _turns: Iterator[int] = field(default_factory=count)
    _besides: Iterator[int] = field(default_factory=count)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def settle(self, service: GradingService, evals: Iterable[Eval]) -> None:
        """Grade everything before the attacks, so that all that is made once is there.

        Raises `AssertionError` where a neighbour's verdict is not as it should be.
        """
        for ev in evals:
            await service.grade(ev, ev.answer().files)
        await service.canary()
        for neighbour in [*self._different(), *self._different()]:
            verdict = await service.grade(neighbour.ev, neighbour.variant())
            expected = Outcome.FAILED if neighbour.caught_by else Outcome.PASSED
            assert (verdict.outcome, verdict.caught_by) == (expected, neighbour.caught_by), (neighbour.name, verdict)
            self.usual[neighbour.name] = said(verdict), _seconds(verdict)
        self.state = await asyncio.to_thread(self.caches.glance)
        self.content = await asyncio.to_thread(self.caches.content)

    def expect(self, files: Files) -> None:
        """A project with these files is about to be graded: the packages that it asks for may appear."""
        with suppress(PackageError, KeyError):
            wanted = parse_dependencies(files["package.json"])
            self._asked |= wanted["dependencies"].keys() | wanted["optionalDependencies"].keys()

    async def beside(self, service: GradingService) -> Kept:
        """Grade the next right neighbour while something else goes on."""
        right = self._right()
        graded, problem = await self._grade(service, right[next(self._besides) % len(right)])
        return Kept((graded,), (problem,) if problem else ())

    async def after(self, service: GradingService, fresh: bool, everything: bool) -> Kept:
        """Grade the next neighbour, or all, and look at the caches.

        Where the attack came before them, all right ones: each could have been the first to use something.
        """
        chosen = self._different() if everything else self._right() if fresh else [self._next()]
        found = [await self._grade(service, neighbour) for neighbour in chosen]
        problems = [problem for _, problem in found if problem]
        problems += await self._changed_caches()
        return Kept(tuple(graded for graded, _ in found), tuple(problems))

    async def at_the_end(self, service: GradingService) -> list[str]:
        """What is not as it was for any neighbour, and with any byte of the caches."""
        found = [problem for _, problem in [await self._grade(service, n) for n in self._different()] if problem]
        after = await asyncio.to_thread(self.caches.content)
        changed = [f"{path} {what}" for path, what in differences(self.content, after) if what != "is new"]
        return [*found, *changed, *self.caches.unfinished()]

    def _different(self) -> list[Neighbour]:
        return list({neighbour.name: neighbour for neighbour in self.neighbours}.values())

    def _next(self) -> Neighbour:
        return self.neighbours[next(self._turns) % len(self.neighbours)]

    def _right(self) -> list[Neighbour]:
        return [neighbour for neighbour in self._different() if neighbour.caught_by is None]

    async def _grade(self, service: GradingService, neighbour: Neighbour) -> tuple[Graded, str | None]:
        verdict = await service.grade(neighbour.ev, neighbour.variant())
        usual, usual_seconds = self.usual[neighbour.name]
        seconds = _seconds(verdict)
        graded = Graded(neighbour.name, seconds, seconds / usual_seconds)
        if said(verdict) != usual:
            return graded, f"the neighbour that is {neighbour.name} ended {_difference(said(verdict), usual)}"
        if seconds > _FACTOR * usual_seconds + _SECONDS:
            return graded, f"the neighbour that is {neighbour.name} took {seconds:.1f} s, else {usual_seconds:.1f} s"
        return graded, None

    async def _changed_caches(self) -> list[str]:
        async with self._looking:
            before, self.state = self.state, await asyncio.to_thread(self.caches.glance)
        return [
            f"{path} {what}"
            for path, what in differences(before, self.state)
            if not (what == "is new" and self.caches.explained(path, self._asked))
        ]


def _seconds(verdict: Verdict) -> float:
    return max(verdict.duration_ms, 1) / 1000


def _difference(now: tuple[object, ...], usual: tuple[object, ...]) -> str:
    parts = [f"{new!r} instead of {old!r}" for new, old in zip(now, usual, strict=True) if new != old]
    return "; ".join(part[:_SHOWN] for part in parts)
