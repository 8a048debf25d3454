"""The guidelines of an experiment at two revisions, read from Git without checking anything out."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from convex_evals.config import (
    CONFIG_NAME,
    Experiment,
    ProjectConfig,
    Workspace,
    bare_experiment,
    is_hidden,
    is_inside,
)
from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.records.human import parse_human
from convex_evals.runs.options import RunOptions, named_experiment
from convex_evals.suite.prompt import given_guidelines, guidelines_sha256
from convex_evals.vcs.git import Checkout, open_checkout

WORKING_TREE = "working tree"
NONE = "none"  # in place of a revision: no guidelines at all; a branch of that name is `heads/none`


@dataclass(frozen=True)
class Version:
    """A guidelines file at one side of a comparison, or no guidelines at all."""

    name: str  # as it was asked for
    commit: str | None  # None: the working tree
    path: str  # relative to the suite
    text: str | None  # None: there is no such file, or none is given
    prompt: str | None  # template of the messages, None where it is not there
    bare: str | None = None  # where none is given, the experiment that asks so; `path` is then the other side's

    @cached_property
    def sha256(self) -> str | None:
        """What runs with these guidelines recorded."""
        return None if self.text is None else guidelines_sha256(self.text)

    @property
    def is_missing(self) -> bool:
        return self.text is None and self.bare is None

    @property
    def given(self) -> str:
        """What models get."""
        return given_guidelines(self.text or "")

    @property
    def label(self) -> str:
        if self.bare:
            return "no guidelines"
        if self.commit is None:
            return self.name
        return self.commit[:7] if self.commit.startswith(self.name) else f"{self.name} ({self.commit[:7]})"

    @property
    def source(self) -> str:
        """As `--guidelines` takes it, and means the same tomorrow."""
        return self.path if self.commit is None else f"{self.path}@{self.commit[:12]}"

    def asked(self, options: RunOptions, experiment: str, workspace: Workspace) -> RunOptions:
        """`options` with what gives models this version under `experiment`."""
        if self.bare:
            return replace(options, experiments=named_experiment(self.bare), guidelines=None)
        usual = workspace.config.experiment(experiment).guidelines
        guidelines = None if self.source == usual else self.source
        return replace(options, experiments=named_experiment(experiment), guidelines=guidelines)


def differ(before: Version, after: Version) -> bool:
    """Whether both are there, and models get something else."""
    return not (before.is_missing or after.is_missing) and before.given != after.given


@dataclass(frozen=True)
class Revisions:
    """Two revisions as they are typed."""

    base: str
    head: str | None  # None: the working tree
    merge_base: bool = False  # `base` is where `head` branched off from it

    @property
    def words(self) -> tuple[str, ...]:
        """As a command takes them."""
        if self.merge_base:
            return (f"{self.base}...{self.head or ''}",)
        return (self.base,) if self.head is None else (self.base, self.head)


def parse_revisions(base: str, head: str | None) -> Revisions:
    """`BASE` and `HEAD`, or both in one word: `A..B`, `A...B` (from where B branched off); B may be left out.

    Raises `UserError`.
    """
    if not base or head == "":
        raise UserError("an empty revision: is a variable not set? write HEAD~1, say, and leave HEAD out for this tree")
    match = re.fullmatch(r"(.*?)(\.\.\.?)(.*)", base)
    if match is None:
        return Revisions(base, head)
    if match[3] and head:
        raise UserError(f"{base} {head}: names what to compare with twice; give BASE HEAD, or BASE..HEAD")
    return Revisions(match[1] or "HEAD", match[3] or head, match[2] == "...")


def read_versions(workspace: Workspace, experiment: str, revisions: Revisions) -> tuple[Version, Version]:
    """The guidelines of both sides. Raises `UserError` where a revision means nothing, or neither side has some."""
    today = _guided(experiment, workspace.config.experiment(experiment))
    if NONE in (revisions.base, revisions.head):
        return _with_and_without(workspace, experiment, revisions, today)
    checkout = _open(workspace, revisions.base)
    head = None if revisions.head is None else _commit(checkout, revisions.head)
    base = _commit(checkout, revisions.base)
    if revisions.merge_base:
        base = _merge_base(checkout, revisions, base, head or _commit(checkout, "HEAD"))
    after = _version(checkout, revisions.head or WORKING_TREE, head, experiment, today, today.path, None)
    name = f"{revisions.base}..." if revisions.merge_base else revisions.base
    before = _version(checkout, name, base, experiment, today, after.path, head)
    if before.text is None and after.text is None:
        raise UserError(
            f"{today.path}: neither in {before.label} nor in {after.label}; "
            f"`git log --oneline -- {today.path}` lists where it is"
        )
    return before, after


def _open(workspace: Workspace, revision: str) -> Checkout:
    why = f"there is no '{revision}' to compare with; `git init` and commit, or go to a clone"
    return open_checkout(workspace.suite, why)


def _with_and_without(
    workspace: Workspace, experiment: str, revisions: Revisions, today: _Guided
) -> tuple[Version, Version]:
    """Both sides where one of them has no guidelines at all."""
    words = " ".join(revisions.words)
    if revisions.merge_base:
        raise UserError(f"{words}: `none` is no commit, so nothing branched off from it; write `none HEAD`")
    if revisions.base == revisions.head:
        raise UserError(f"{words}: no guidelines on either side; name a revision on one of them")
    bare = bare_experiment(workspace.config.experiments, experiment)
    if bare is None:
        raise UserError(
            f"none: no experiment asks as '{experiment}' does and gives no guidelines; add one to {CONFIG_NAME}, "
            "the same with `guidelines: null`"
        )
    name = revisions.head if revisions.base == NONE else revisions.base
    if name is None:
        given = _in_working_tree(workspace.suite, today)
    else:
        checkout = _open(workspace, name)
        given = _version(checkout, name, _commit(checkout, name), experiment, today, today.path, None)
    if given.is_missing:
        raise UserError(f"{given.path}: not in {given.label}; name a revision that has it")
    none = Version(NONE, None, given.path, None, given.prompt, bare)
    return (none, given) if revisions.base == NONE else (given, none)


@dataclass(frozen=True)
class _Guided:
    """An experiment with guidelines that may change from one revision to the next."""

    path: str
    prompt: str


def _guided(name: str, experiment: Experiment) -> _Guided:
    path = experiment.guidelines
    if path is None:
        raise UserError(f"-e {name}: gives no guidelines, so there is nothing to compare; name another experiment")
    if "@" in path:
        raise UserError(f"-e {name}: gives {path}, whatever is committed; name another experiment")
    return _Guided(path, experiment.prompt)


def _version(
    checkout: Checkout,
    name: str,
    commit: str | None,
    experiment: str,
    today: _Guided,
    later_path: str,
    later: str | None,
) -> Version:
    """The file that `experiment` gave in `commit`: as the settings of then say, else by the name it has `later`."""
    if checkout.inside(today.path) is None:
        raise UserError(f"{today.path}: not in the repository {checkout.root}; diff-guidelines compares what is")
    if commit is None:
        return _in_working_tree(checkout.folder, today)
    _refuse_outside(today)
    then = _guided_in(checkout, commit, experiment)
    paths = dict.fromkeys([*([then.path] if then else []), later_path, today.path])
    found = [(p, text) for p in paths if (text := checkout.text(commit, p)) is not None]
    if not found:
        earlier = checkout.earlier_path(later_path, commit, later)
        text = checkout.text(commit, earlier) if earlier else None
        found = [(earlier, text)] if earlier and text is not None else []
    path, text = found[0] if found else (later_path, None)
    return Version(name, commit, path, text, checkout.text(commit, (then or today).prompt))


def _in_working_tree(folder: Path, today: _Guided) -> Version:
    _refuse_outside(today)
    text, template = (
        read_inside(folder, path) if is_there(folder, path) else None for path in (today.path, today.prompt)
    )
    return Version(WORKING_TREE, None, today.path, text, template)


def _guided_in(checkout: Checkout, commit: str, experiment: str) -> _Guided | None:
    """What the settings of a commit say; None where they say nothing that we understand."""
    text = checkout.text(commit, CONFIG_NAME)
    try:
        config = parse_human(text or "", checkout.folder / CONFIG_NAME, ProjectConfig)
        found = _guided(experiment, config.experiment(experiment))
    except UserError:
        return None
    return None if _outside(found) else found


def _refuse_outside(guided: _Guided) -> None:
    if odd := _outside(guided):
        raise UserError(f"{odd}: leads out of the suite, or is hidden; name a file in it")


def _outside(guided: _Guided) -> str | None:
    """The path that leads out of the suite, though perhaps not out of the repository, or to hidden files."""
    paths = (guided.path, guided.prompt)
    return next((path for path in paths if not is_inside(path) or is_hidden(path)), None)


def _commit(checkout: Checkout, revision: str) -> str:
    """Raises `UserError` where `revision` is none."""
    commit = checkout.commit(revision)
    if commit is not None:
        return commit
    if checkout.commit("HEAD") is None:
        raise UserError(f"{revision}: nothing is committed yet; commit the guidelines first")
    names = checkout.names()
    remote = next((n for n in names if n.endswith(f"/{revision}")), None)
    near = [remote] if remote else difflib.get_close_matches(revision, names, n=1)
    if checkout.is_shallow and not near:
        raise UserError(f"{revision}: not in this clone, which is shallow; {_deepen(revision)}")
    hint = f"did you mean '{near[0]}'?" if near else "`git log --oneline` and `git tag` list some"
    raise UserError(f"{revision}: no such revision; {hint}")


def _deepen(revision: str) -> str:
    steps = sum(int(n or 1) for n in re.findall(r"[~^](\d*)", revision))
    some = f"`git fetch --deepen {steps}` fetches that much more, " if steps else ""
    return f"{some}`git fetch --unshallow --tags` fetches all of it"


def _merge_base(checkout: Checkout, revisions: Revisions, one: str, other: str) -> str:
    found = checkout.repo.fork(one, other)
    if found is not None:
        return found
    head = revisions.head or "HEAD"
    if checkout.is_shallow:
        raise UserError(
            f"{revisions.base}...: this clone is shallow, and does not reach back to where {head} branched off; "
            "`git fetch --deepen 50` fetches more, `git fetch --unshallow` all of it"
        )
    raise UserError(f"{revisions.base}...: {head} has no commit in common with it; compare with `{revisions.base}`")
