"""Guidelines: their versions over time, what changed from one to the next, and what that did to each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from convex_evals.analysis.pairing import counting_once, pairs
from convex_evals.errors import UserError
from convex_evals.guidelines.confirmed import Confirmed, find_confirmed
from convex_evals.guidelines.coverage import Coverage, read_coverage
from convex_evals.guidelines.diff import RuleChange, diff_guidelines
from convex_evals.guidelines.document import read_guidelines
from convex_evals.guidelines.effect import ORDER
from convex_evals.guidelines.revisions import WORKING_TREE, Version
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Entry, Library
from convex_evals.stats import EvalPair, Paired, Rate, family, paired, pooled, total
from convex_evals.vcs.git import open_checkout

# Of a file's history; `cli diff-guidelines` compares any two.
_MOST_VERSIONS = 40


@dataclass(frozen=True)
class Given:
    """One version of the guidelines of an experiment."""

    version: Version
    date: str
    subject: str
    runs: Sequence[Entry]  # complete ones that were given it, newest first

    @property
    def sha256(self) -> str:
        return self.version.sha256 or ""

    @property
    def rate(self) -> Rate:
        return Rate.of(pooled(e.summary.tallies for e in self.runs if e.summary).values())

    @cached_property
    def rules(self) -> int:
        return len(read_guidelines(self.version.text or "").rules)


@dataclass(frozen=True)
class SeenEffect:
    """What a change did to one model."""

    model: str
    pairs: Sequence[EvalPair]
    paired: Paired


def guidelines_page(library: Library) -> Page:
    parts = []
    for name, experiment in library.workspace.config.experiments.items():
        found = versions(library, name)
        if experiment.guidelines and any(each.runs or name == "default" for each in found):
            steps = [(new, old) for new, old in zip(found, [*found[1:], None], strict=True)]
            parts.append({"experiment": name, "path": experiment.guidelines, "steps": steps})
    context = {"parts_list": parts, "coverage": _coverage(library)}
    return Page(urls.GUIDELINES, "guidelines", "Guidelines", "Guidelines", context)


def _coverage(library: Library) -> Coverage | None:
    def read() -> Coverage | None:
        try:
            return read_coverage(library.workspace, "default", with_benefit=False)
        except UserError:
            return None

    return library.keep_briefly(("coverage",), read)


def versions(library: Library, experiment: str) -> list[Given]:
    """Those of the file's history that differ, newest first; the working tree's is the first where it is another."""
    return library.keep(("versions", experiment), lambda: _versions(library, experiment))


def _versions(library: Library, experiment: str) -> list[Given]:
    own = library.workspace.config.experiment(experiment)
    path = own.guidelines
    if path is None or "@" in path:
        return []
    root = library.workspace.suite
    found: list[tuple[Version, str, str]] = []
    if is_there(root, root / path):
        found.append((Version(WORKING_TREE, None, path, read_inside(root, root / path), None), "", "not committed"))
    try:
        checkout = open_checkout(root, "there is no history of the guidelines")
    except UserError:
        history = []
    else:
        history = checkout.history(path, _MOST_VERSIONS)
    for each in history:
        name, date = each.hexsha, each.committed_datetime.date()
        text = checkout.text(name, path)
        if text is not None:
            version = Version(name[:7], name, path, text, checkout.text(name, own.prompt))
            found.append((version, date.isoformat(), str(each.summary)))
    kept = [
        each
        for n, each in enumerate(found)
        # The first commit that brought a text stands for it.
        if n + 1 == len(found) or found[n + 1][0].sha256 != each[0].sha256
    ]
    return [Given(version, date, subject, _runs(library, experiment, version)) for version, date, subject in kept]


def _runs(library: Library, experiment: str, version: Version) -> list[Entry]:
    return [
        e
        for e in library.entries
        if e.summary and not e.plan.synthetic and e.plan.experiment == experiment
        if e.plan.guidelines_sha256 == version.sha256
    ]


def steps(library: Library) -> list[tuple[str, Given, Given]]:
    """All changes that have a page: experiment, before and after."""
    return [
        (name, before, after)
        for name in library.workspace.config.experiments
        for after, before in pairwise(versions(library, name))
        if name == "default" or after.runs or before.runs
    ]


def diff_page(library: Library, experiment: str, hashes: str) -> Page | None:
    """`hashes`: the beginnings of both. None where they are not two versions, one after the other."""
    for name, before, after in steps(library):
        if name == experiment and f"{before.sha256[:8]}-{after.sha256[:8]}" == hashes:
            context = library.keep(("step", name, hashes), partial(_context, library, name, before, after))
            title = f"Guidelines: {before.version.label} to {after.version.label}"
            place = urls.guidelines(experiment, before.sha256, after.sha256)
            return Page(place, "guideline_diff", title, "Guidelines", context)
    return None


def _context(library: Library, experiment: str, before: Given, after: Given) -> dict[str, Any]:
    diff = diff_guidelines(before.version.text or "", after.version.text or "")
    effects = _effects(before, after)
    by_eval: dict[str, dict[str, EvalPair]] = {}
    for effect in effects:
        for pair in effect.pairs:
            by_eval.setdefault(pair.eval, {})[effect.model] = pair
    found = steps(library)
    at = next(i for i, (name, a, b) in enumerate(found) if name == experiment and a is before and b is after)
    return {
        "experiment": experiment,
        "before": before,
        "after": after,
        "diff": diff,
        "changes": [(change, _evals(change, by_eval, library)) for change in diff.changes],
        "effects": effects,
        "confirmed": _confirmed(library, experiment, before, after),
        "newer": _place(found[at - 1]) if at else None,
        "older": _place(found[at + 1]) if at + 1 < len(found) else None,
    }


def _place(step: tuple[str, Given, Given]) -> str:
    return urls.guidelines(step[0], step[1].sha256, step[2].sha256)


def _effects(before: Given, after: Given) -> list[SeenEffect]:
    """Of each model that ran with both, as one family: the ones that got worse first."""
    found: dict[str, list[EvalPair]] = {}
    for model in sorted({e.plan.model for e in before.runs} & {e.plan.model for e in after.runs}):
        sides = [
            counting_once(e.summary for e in given.runs if e.summary and e.plan.model == model)
            for given in (before, after)
        ]
        found[model] = pairs(*sides)
    judged = family({model: paired(own) for model, own in found.items()})
    effects = [SeenEffect(model, found[model], one) for model, one in judged.items()]
    return sorted(effects, key=lambda e: (ORDER.index(e.paired.verdict), e.model))


def _confirmed(library: Library, experiment: str, before: Given, after: Given) -> Sequence[Confirmed]:
    try:
        return find_confirmed(library.store, before.version, after.version, experiment)
    except UserError:
        return ()


def _evals(
    change: RuleChange, by_eval: Mapping[str, Mapping[str, EvalPair]], library: Library
) -> list[tuple[str, bool, EvalPair | None]]:
    """The evals that a rule names: whether they have a page, and what all models together did before and after."""
    return [(e, e in library.evals, total(e, by_eval[e].values()) if e in by_eval else None) for e in change.evals]
