"""The projects of a suite that its graders are tried on, and what must come of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from convex_evals.errors import UserError
from convex_evals.suite.suite import Eval, Project, Suite
from convex_evals.text import compiled


@dataclass(frozen=True)
class Case:
    """One project of a suite and what must come of it."""

    ev: Eval
    project: Project

    @property
    def kind(self) -> str:
        """`answer`, `wrong`, `accept` or `foil`."""
        return self.project.label.partition("/")[0]

    @property
    def must_pass(self) -> bool:
        return self.kind in ("answer", "accept")

    @property
    def name(self) -> str:
        return f"{self.ev.id} {self.project.label}"


def cases_of(evals: Sequence[Eval], *, wrong: bool = True, accept: bool = True) -> list[Case]:
    """All projects of `evals`, eval by eval."""
    return [
        Case(ev, project)
        for ev in evals
        for project in [ev.answer(), *(ev.accept() if accept else []), *(ev.wrong() if wrong else [])]
    ]


def matching(cases: Sequence[Case], pattern: str) -> list[Case]:
    """Those whose project's label matches `pattern` (a regular expression, searched). Raises `UserError`."""
    regex = compiled("-p", pattern)
    found = [c for c in cases if regex.search(c.project.label)]
    if not found:
        raise UserError(f"-p {pattern!r}: matches none of the {len(cases)} projects, like 'answer' or 'wrong/NAME'")
    return found


def foils_of(evals: Sequence[Eval], suite: Suite) -> list[Case]:
    """What no grader may let pass, for each of `evals`: nothing, nearly nothing, and the answer to something else."""
    return [Case(ev, project) for ev in evals for project in _foils(ev, suite)]


def _foils(ev: Eval, suite: Suite) -> list[Project]:
    manifest = {path: text for path, text in ev.answer().files.items() if path == "package.json"}
    foils = [Project("foil/empty", {}, "it is an empty project")]
    if manifest:
        foils.append(Project("foil/package-json", manifest, "it has a package.json and nothing else"))
    # The nearest one after it: a neighbour's answer is likelier to be taken for this one's than that of a stranger.
    index = suite.evals.index(ev)
    for other in [*suite.evals[index + 1 :], *suite.evals[:index]]:
        files = {} if other.problems() else other.answer().files
        if files and _sources(files) != _sources(ev.answer().files):
            foils.append(Project("foil/other-answer", files, f"it is the answer of {other.id}"))
            break
    return foils


def _sources(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if path != "package.json"}
