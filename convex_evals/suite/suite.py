"""A suite: discover its evals, select some, read the projects that they bring, fingerprint inputs."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import (
    MOST_FOLDERS,
    files_below,
    folders_in,
    is_there,
    problem_with,
    read_inside,
    refuse_odd_name,
)
from convex_evals.records import EvalConfig, StepName
from convex_evals.records.human import parse_human
from convex_evals.suite.drafts import left_to_write
from convex_evals.suite.extract import extract, render_response
from convex_evals.suite.id_filter import id_filter, selection_words
from convex_evals.text import and_more

GRADER_NAME = "grader.test.ts"
TASK_NAME = "TASK.txt"
CONFIG_NAME = "eval.yaml"
REASON_NAME = "reason.txt"
DELETE_NAME = "delete.txt"
_CAUGHT_BY = re.compile(r"^caught by:\s*(\S+)\s*$", re.IGNORECASE)
GENERATED = "_generated"
_MOST_TEXT = 64 * 1024 * 1024  # characters of one project
_NOT_FOR_GRADERS = {"runs", "reports"}
_NOT_OURS = {"node_modules", GENERATED, ".git"}
# What editors, file managers and `convex dev` leave beside one's work; in the last two keys may stand.
_LEFTOVERS = re.compile(r"\.DS_Store|Thumbs\.db|.*~|#.*#|\..*\.sw[op]|\.env|\.env\.local")


@dataclass(frozen=True)
class Project:
    """A project as a suite brings it: what is graded in place of a model's answer."""

    label: str
    files: Mapping[str, str] = field(repr=False)
    reason: str | None = None
    caught_by: StepName | None = None


@dataclass(frozen=True)
class Eval:
    """One eval of a suite."""

    root: Path
    category: str
    name: str
    config: EvalConfig
    config_problem: str | None = None

    @property
    def id(self) -> str:
        return f"{self.category}/{self.name}"

    @property
    def path(self) -> Path:
        return self.root / "evals" / self.category / self.name

    @property
    def grader(self) -> Path:
        return self.path / GRADER_NAME

    @property
    def task(self) -> str:
        return read_inside(self.root, self.path / TASK_NAME)

    @property
    def grader_text(self) -> str:
        return read_inside(self.root, self.grader)

    def answer(self) -> Project:
        """The files of `answer/`: what a model would have written."""
        return Project("answer", read_project(self.path / "answer", keep=is_project_file, root=self.root))

    def expected_files(self) -> Mapping[str, str]:
        """The files of the answer."""
        return self.answer().files

    def reference_reply(self) -> str:
        """The answer as a model would have replied. Raises `UserError` where no reply could hold one of its files."""
        files = self.answer().files
        response = render_response(files)
        read = extract(response).files
        lost = [path for path, text in files.items() if read.get(path, "").rstrip("\n") != text.rstrip("\n")]
        if lost:
            raise UserError(
                f"{self.path / 'answer' / lost[0]}: no reply could hold this file; rename it, or fix its text"
            )
        return response

    def wrong(self) -> list[Project]:
        return [self._variant("wrong", folder) for folder in self._projects("wrong")]

    def accept(self) -> list[Project]:
        return [self._variant("accept", folder) for folder in self._projects("accept")]

    def _projects(self, kind: str) -> list[Path]:
        found = folders_in(self.root, self.path / kind, _NOT_OURS)
        for folder in found:
            refuse_odd_name(folder)
        return found

    def _variant(self, kind: str, folder: Path) -> Project:
        own = read_project(folder, keep=is_project_file, root=self.root)
        deleted = [line.strip() for line in own.pop(DELETE_NAME, "").splitlines() if line.strip()]
        reason = own.pop(REASON_NAME, None)
        label = f"{kind}/{folder.name}"
        if kind == "wrong" and not reason:
            raise UserError(f"{folder}: no {REASON_NAME}; say which mistake this is, and 'caught by: STEP' last")
        files = dict(own) if "package.json" in own else {**self.answer().files, **own}
        for path in deleted:
            if path not in files:
                raise UserError(f"{folder / DELETE_NAME}: '{path}' is not a file of the answer")
            del files[path]
        return Project(label, files, reason, _caught_by(folder, reason) if kind == "wrong" else None)

    def problems(self) -> list[str]:
        """What is missing for this eval to be used, a line each."""
        missing = [self.config_problem] if self.config_problem else []
        for path, what, is_folder in (
            (self.path / TASK_NAME, f"no {TASK_NAME}; write what the model is asked", False),
            (self.grader, f"no {GRADER_NAME}; write the grader", False),
            (self.path / "answer", "no answer/; write the reference project", True),
        ):
            if not is_there(self.root, path):
                missing.append(f"{self.path}: {what}")
            elif problem := problem_with(self.root, path, folder=is_folder):
                missing.append(problem)
            elif path.name == TASK_NAME and not self.task.strip():
                missing.append(f"{path}: empty; write what the model is asked")
        return [*missing, *self._drafted()]

    def _drafted(self) -> Iterator[str]:
        """What is left of a draft, a line each. What cannot be read is told by those who need it."""
        paths = [self.path / TASK_NAME, self.path / CONFIG_NAME, self.grader]
        for kind in ("wrong", "accept"):
            with contextlib.suppress(UserError):
                paths += [folder / REASON_NAME for folder in folders_in(self.root, self.path / kind, _NOT_OURS)]
        for path in paths:
            with contextlib.suppress(UserError):
                if is_there(self.root, path):
                    yield from (f"{path}:{what}" for what in left_to_write(read_inside(self.root, path)))


@dataclass(frozen=True)
class Suite:
    root: Path
    evals: tuple[Eval, ...]

    @property
    def categories(self) -> list[str]:
        return sorted({e.category for e in self.evals})

    def select(
        self, patterns: Sequence[str] = (), categories: Sequence[str] = (), tags: Sequence[str] = ()
    ) -> list[Eval]:
        """Evals that `id_filter` of `patterns` means, in any of `categories`, with all of `tags`.

        Raises `UserError` where nothing is left.
        """
        wanted = {self._category(c) for c in categories}
        ids, needed = id_filter(patterns), {self._tag(t) for t in tags}
        chosen = [
            e
            for e in self.evals
            if ids.matches(e.id) and (not wanted or e.category in wanted) and needed.issubset(e.config.tags)
        ]
        if not chosen:
            known = "the only one" if len(self.evals) == 1 else f"all {len(self.evals)}"
            words = selection_words({"-f": patterns, "-c": categories, "--tag": tags})
            raise UserError(f"no eval matches {words}; `cli list evals` shows {known}")
        return chosen

    def _category(self, word: str) -> str:
        for category in self.categories:
            if word in (category, category.partition("-")[2]):
                return category
        near = difflib.get_close_matches(word, [*self.categories, *(c.partition("-")[2] for c in self.categories)], n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"available: {', '.join(self.categories)}"
        raise UserError(f"-c {word}: no such category; {hint}")

    def _tag(self, word: str) -> str:
        known = {tag for e in self.evals for tag in e.config.tags}
        if word not in known:
            near = difflib.get_close_matches(word, sorted(known), n=1)
            hint = f"did you mean '{near[0]}'?" if near else "`cli list evals` shows the tags of each"
            raise UserError(f"--tag {word}: no eval has it; {hint}")
        return word


def refuse_incomplete(evals: Sequence[Eval]) -> None:
    """Raise `UserError` where one of `evals` lacks something."""
    problems = [line for e in evals for line in e.problems()]
    if problems:
        raise UserError(problems[0] + and_more(len(problems) - 1, "more like it"))


def load_suite(root: Path) -> Suite:
    """All evals under `root`/evals. Raises `UserError` where there is none."""
    found = []
    for category in folders_in(root, root / "evals", _NOT_OURS):
        for folder in folders_in(root, category, _NOT_OURS):
            if any(is_there(root, folder / part) for part in (TASK_NAME, GRADER_NAME, "answer")):
                refuse_odd_name(category)
                refuse_odd_name(folder)
                found.append(_load_eval(root, category, folder))
        if len(found) > MOST_FOLDERS:
            raise UserError(f"{root / 'evals'}: more than {MOST_FOLDERS:,} evals; split the suite")
    if not found:
        raise UserError(f"{root / 'evals'}: no evals here; an eval is a folder evals/CATEGORY/NAME with a {TASK_NAME}")
    return Suite(root, tuple(found))


def _load_eval(root: Path, category: Path, folder: Path) -> Eval:
    try:
        return Eval(root, category.name, folder.name, _load_config(root, folder))
    except UserError as error:
        return Eval(root, category.name, folder.name, EvalConfig(), str(error))


def _load_config(root: Path, folder: Path) -> EvalConfig:
    path = folder / CONFIG_NAME
    if is_there(root, path):
        return parse_human(read_inside(root, path), path, EvalConfig)
    path = folder / "eval.json"
    if is_there(root, path):
        # The format of other tools: what we do not know is theirs.
        return parse_human(read_inside(root, path), path, EvalConfig, ignore_unknown=True)
    return EvalConfig()


def _caught_by(folder: Path, reason: str | None) -> StepName:
    lines = [line for line in (reason or "").splitlines() if line.strip()]
    match = _CAUGHT_BY.match(lines[-1].strip()) if lines else None
    steps = [s.value for s in StepName]
    if match is None or match[1].lower() not in steps:
        raise UserError(
            f"{folder / REASON_NAME}: the last line must be 'caught by: STEP', STEP one of {', '.join(steps)}"
        )
    return StepName(match[1].lower())


def read_project(
    folder: Path, keep: Callable[[str], bool] | None = None, *, root: Path | None = None
) -> dict[str, str]:
    """Text files below `folder` by posix path, without `node_modules`, `_generated` and links.

    `root` is the suite that it stands in, no folder of which is a link either. Raises `UserError`.
    """
    root = root or folder
    return _read_all(root, folder, files_below(root, folder, _NOT_OURS, keep))


def read_generated(project: Path) -> dict[str, str]:
    """The files below the `_generated` folders of a project, by posix path. Raises `UserError`."""
    folder = project / "convex"
    paths = files_below(project, folder, _NOT_OURS - {GENERATED})
    found = _read_all(project, folder, (path for path in paths if GENERATED in PurePosixPath(path).parts))
    return {f"convex/{path}": text for path, text in found.items()}


def _read_all(root: Path, folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """By path. Raises `UserError` where they are too much together: each file alone may be of 4 MiB."""
    found: dict[str, str] = {}
    left = _MOST_TEXT
    for path in paths:
        found[path] = read_inside(root, folder / path)
        left -= len(found[path])
        if left < 0:
            raise UserError(f"{folder}: more than {_MOST_TEXT >> 20} MiB in all; a project of an eval is small")
    return found


def is_project_file(relative: str) -> bool:
    """Whether a file of `answer/`, `wrong/NAME/` or `accept/NAME/` is neither installed, generated nor a leftover."""
    path = PurePosixPath(relative)
    return _NOT_OURS.isdisjoint(path.parts) and not _LEFTOVERS.fullmatch(path.name)


def package_files(root: Path) -> list[Path]:
    """Of a suite, what its graders' packages are found by."""
    return [path for name in ("package.json", "node_modules") if _may_be_shown(path := root / name)]


def grader_files(root: Path) -> list[Path]:
    """Of a suite, what its graders may read: neither results nor what is hidden, where keys may stand (`.env`)."""
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return []
    shown = [path for path in entries if not path.name.startswith(".") and path.name not in _NOT_FOR_GRADERS]
    return [path for path in shown if _may_be_shown(path)]


def _may_be_shown(path: Path) -> bool:
    """Whether it is the suite's own; a link may lead to packages alone, as in a second working tree."""
    if path.is_symlink():
        return path.name == "node_modules" and path.resolve().name == "node_modules" and path.is_dir()
    return path.is_dir() or path.is_file()
