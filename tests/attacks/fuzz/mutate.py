"""A random hostile project of a seed: an honest one, right or wrong, with some mutations on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.suite.suite import Eval
from tests.attacks.fuzz import paths, settings, sources
from tests.attacks.making import FUNCTION, Files
from tests.attacks.neighbours import COMPONENT, NOTES

NOTES_SOURCE = "convex/notes.ts"
_STRICT_ONLY = "\nexport function lengthOf(text: string | null): number {\n  return text.length;\n}\n"
Mutation = Callable[[Random, Files, str], Files]


def _anywhere(change: Callable[[Random, Files], Files]) -> Mutation:
    return lambda rng, files, _: change(rng, files)


# By name: what it does, how often, and whether it could put right what is wrong.
_HOSTILE: dict[str, tuple[Mutation, int, bool]] = {
    "setting": (_anywhere(settings.setting), 6, False),
    "manifest": (_anywhere(settings.manifest), 3, False),
    "dependency": (_anywhere(settings.dependency), 2, False),
    "path": (_anywhere(paths.path), 4, False),
    "many": (_anywhere(paths.many), 1, False),
    "around": (sources.around, 8, False),
    "head": (sources.head, 3, False),
    "moved": (sources.moved, 3, False),
    "renamed": (sources.renamed, 2, False),
    "garbled": (sources.garbled, 2, True),
}
_HARMLESS: dict[str, Mutation] = {
    "harmless source": sources.harmless,
    "harmless setting": _anywhere(settings.harmless_setting),
}


@dataclass(frozen=True)
class Base:
    """An honest project."""

    name: str
    ev: Eval
    files: Mapping[str, str]
    source: str
    is_right: bool


@dataclass(frozen=True)
class Mutated:
    """A project to be graded, and what may come of it."""

    index: int
    base: Base
    applied: tuple[str, ...]  # names of mutations
    files: Files

    @property
    def name(self) -> str:
        return f"{self.index}: {self.base.name} + {', '.join(self.applied)}"

    @property
    def must_pass(self) -> bool:
        return self.base.is_right and all(name in _HARMLESS for name in self.applied)

    def problem(self, verdict: Verdict) -> str | None:
        """What is wrong about the outcome; None where it may be."""
        if verdict.outcome is Outcome.UNSCORED:
            return "got away unscored"
        if not self.base.is_right and verdict.outcome is Outcome.PASSED:
            return "a wrong project passed"
        if self.must_pass and verdict.outcome is not Outcome.PASSED:
            return f"a right project failed at {verdict.caught_by}"
        return None


def bases(evals: Mapping[str, Eval]) -> list[Base]:
    """Right projects, and those that only one step can catch."""
    notes = evals[NOTES]
    answer = notes.answer().files
    strict_only = {**answer, NOTES_SOURCE: answer[NOTES_SOURCE] + _STRICT_ONLY}
    return [
        Base("right", notes, answer, NOTES_SOURCE, True),
        Base("right", notes, answer, NOTES_SOURCE, True),
        Base("right, in Node.js", evals[FUNCTION], evals[FUNCTION].answer().files, "convex/attack.ts", True),
        Base("right, with a component", evals[COMPONENT], evals[COMPONENT].answer().files, "convex/posts.ts", True),
        Base("wrong at strict tsc", notes, strict_only, NOTES_SOURCE, False),
        *(
            Base(f"wrong at {project.caught_by}", notes, project.files, NOTES_SOURCE, False)
            for project in notes.wrong()
            if project.caught_by is not StepName.DEPLOY
        ),
    ]


def mutated(evals: Mapping[str, Eval], seed: int, index: int) -> Mutated:
    """Number `index` of the projects of `seed`: the same each time."""
    rng = Random(f"{seed}:{index}")
    base = rng.choice(bases(evals))
    if base.is_right and rng.random() < 0.15:
        names = rng.sample(sorted(_HARMLESS), rng.randint(1, 2))
    else:
        hostile = [name for name, (_, _, mends) in _HOSTILE.items() if base.is_right or not mends]
        names = rng.choices(hostile, [_HOSTILE[name][1] for name in hostile], k=rng.choice([1, 1, 1, 2, 3]))
    files = dict(base.files)
    applied = []
    for name in names:
        change = _HARMLESS[name] if name in _HARMLESS else _HOSTILE[name][0]
        # An earlier one may have taken the file away that this one is about.
        if base.source in files:
            files = change(rng, files, base.source)
            applied.append(name)
    return Mutated(index, base, tuple(applied), files)
