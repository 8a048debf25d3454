"""What was done since a run: commits to graders, tasks, answers and lint rules of the evals that failed."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from urllib.parse import quote

from convex_evals.reports.model import Action
from convex_evals.vcs.git import working_tree
from convex_evals.vcs.git_command import GitFailed, read_git

# The engine's own, where it is developed beside a suite.
LINT_RULES = "convex_evals/node/checker/rules.ts"
_SETTINGS = "convex-evals.yaml"
_GITHUB = re.compile(r"(?:https://|ssh://git@|git@)github\.com[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
_RECORD = "\x1e"
# A subject may have anything in it but line ends and zero bytes.
_RECORDS = re.compile(rf"^{_RECORD}(?=[0-9a-f]{{40,64}}\0)", re.MULTILINE)


class Repository:
    """The suite's Git repository, where it has one. Nothing here raises: a report can do without."""

    def __init__(self, suite: Path) -> None:
        self._suite = suite
        self._top = self._find_top()
        self.prefix = self._ask("rev-parse", "--show-prefix").strip()
        remote = _GITHUB.fullmatch(self._ask("remote", "get-url", "origin").strip())
        self.url = f"https://github.com/{quote(remote[1])}/{quote(remote[2])}" if remote else None

    def since(self, commit: str | None, day: str, evals: Collection[str]) -> tuple[list[Action], str]:
        """Commits after `commit`, or after `day` where it is not known, newest first; a note on how they were found."""
        if self._top is None or not evals:
            return [], "" if evals else "nothing failed"
        known = bool(commit) and bool(self._ask("rev-parse", "-q", "--verify", f"{commit}^{{commit}}"))
        start = [f"{commit}..HEAD"] if known else [f"--since={day}T00:00:00Z", "HEAD"]
        note = "" if known else f"the run's commit is not known here, so these are the commits since {day}"
        folders = [f"{self.prefix}evals/{e}/" for e in sorted(evals)]
        paths = [*folders, LINT_RULES, f"{self.prefix}{_SETTINGS}"]
        text = self._ask(
            *(
                "log",
                "--no-ext-diff",
                "--no-textconv",
                "--no-merges",
                "--no-renames",
                f"--format={_RECORD}%H%x00%cs%x00%s",
                "--name-only",
            ),
            *start,
            "--",
            *(f":(top,literal){p}" for p in paths),
        )
        actions = [self._action(r, evals) for r in _RECORDS.split(text)[1:]]
        return [a for a in actions if a is not None], note

    def _action(self, record: str, evals: Collection[str]) -> Action | None:
        head, *paths = [line for line in record.split("\n") if line]
        commit, day, subject = head.split("\0", 2)
        about: dict[str, None] = {}
        touched: dict[str, None] = {}
        for path in paths:
            inside = path.removeprefix(self.prefix)
            if path == LINT_RULES:
                about["lint rules"] = None
            elif inside == _SETTINGS:
                about["settings"] = None
            else:
                parts = inside.split("/")
                eval_id = "/".join(parts[1:3])
                if eval_id in evals and (what := _what("/".join(parts[3:]))):
                    about[f"{what} of {eval_id}"] = None
                    touched[eval_id] = None
        if not about:
            return None
        href = f"{self.url}/commit/{commit}" if self.url else None
        return Action(commit, day, subject, href, tuple(about), tuple(touched))

    def _find_top(self) -> Path | None:
        try:
            return working_tree(self._suite)
        except GitFailed:
            return None

    def _ask(self, *arguments: str) -> str:
        try:
            return read_git(self._suite, *arguments).decode("utf-8", "replace") if self._top else ""
        except GitFailed:
            return ""


def _what(path: str) -> str | None:
    """What a file of an eval is; None where it decides nothing."""
    if path.startswith("answer/"):
        return "answer"
    if path.startswith(("wrong/", "accept/")):
        return None
    return {"TASK.txt": "task", "eval.yaml": "settings", "eval.json": "settings"}.get(path, "grader")
