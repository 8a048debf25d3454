"""`convex-evals.yaml`, and where things of this user and machine stand."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from convex_evals.errors import UserError
from convex_evals.records.base import Record
from convex_evals.records.human import parse_human
from convex_evals.text import read_text

CONFIG_NAME = "convex-evals.yaml"
PACKAGES_BEFORE = date(2026, 11, 20)


class Experiment(Record):
    """A way of asking: which guidelines, which prompt, which extras."""

    guidelines: str | None = Field(
        default="guidelines/convex.md",
        description="file, relative to this one; `path@REV` reads it from Git; null: none are given",
    )
    prompt: str = Field(default="guidelines/prompt.j2", description="template of the messages, relative to this file")
    web_search: bool = Field(default=False, description="offer the provider's own web search")
    parameters: dict[str, Any] = Field(default={}, description="sent with every request, as LiteLLM names them")


EXPERIMENTS = {
    "default": Experiment(),
    "no_guidelines": Experiment(guidelines=None),
    "web_search": Experiment(web_search=True),
    "web_search_no_guidelines": Experiment(guidelines=None, web_search=True),
}


class ProjectConfig(Record):
    """`convex-evals.yaml` at the root of a suite. Every key has a default; the file is optional."""

    runs_dir: str = Field(
        default="runs",
        description="where results are written, relative to this file or absolute; not used with -C",
    )
    packages_before: date = Field(
        default=PACKAGES_BEFORE,
        description="npm packages published after this day are not used, so that `^1.31` means the same next year",
    )
    experiments: dict[str, Experiment] = Field(
        default=EXPERIMENTS, description="by name; default, no_guidelines, web_search, web_search_no_guidelines ship"
    )
    concurrency: int = Field(
        default=32, ge=1, le=1000, description="requests to one provider at the same time, at most"
    )
    workers: int | None = Field(
        default=None, ge=1, le=64, description="projects graded at the same time; default: the cores"
    )

    @field_validator("experiments")
    @classmethod
    def _add_shipped(cls, own: dict[str, Experiment]) -> dict[str, Experiment]:
        bad = next((name for name in own if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", name)), None)
        if bad:
            raise ValueError(f"'{bad}': a name is lower-case letters, digits, '_' and '-', 40 at most")
        return {**EXPERIMENTS, **own}

    def experiment(self, name: str) -> Experiment:
        """Raises `UserError` where there is none of this name."""
        if name not in self.experiments:
            near = difflib.get_close_matches(name, self.experiments, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(self.experiments)}"
            raise UserError(f"-e {name}: no such experiment; {hint}")
        return self.experiments[name]


@dataclass(frozen=True)
class Workspace:
    """Which suite is read and which folders are written."""

    suite: Path
    home: Path  # where results, the journal, .env and models.yaml stand: the suite, or the working folder with -C
    runs_dir: Path
    journal_dir: Path
    config: ProjectConfig

    @property
    def workers(self) -> int:
        return self.config.workers or os.cpu_count() or 1


def open_workspace(suite: Path | None, runs_dir: Path | None, cwd: Path) -> Workspace:
    """Settings and folders of a command.

    Without `suite` (`-C`), the working folder is the suite, and results go beside it. With it, the suite is only
    read: results go to `runs/` of the working folder unless `runs_dir` says otherwise.
    """
    root = _suite_root(suite or cwd, given=suite is not None)
    config = load_config(root)
    home = root if suite is None else cwd
    if runs_dir is None:
        runs_dir = home / (config.runs_dir if suite is None else ProjectConfig().runs_dir)
    return Workspace(
        root, home.absolute(), runs_dir.absolute(), home.absolute() / ".cache" / "convex-evals" / "journal", config
    )


def load_config(root: Path) -> ProjectConfig:
    path = root / CONFIG_NAME
    if not path.is_file():
        return ProjectConfig()
    return parse_human(read_text(path), path, ProjectConfig)


def _suite_root(folder: Path, *, given: bool) -> Path:
    folder = folder.absolute()
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    candidates = [folder] if given else [folder, *folder.parents]
    for candidate in candidates:
        if (candidate / "evals").is_dir():
            return candidate
    raise UserError(
        f"{folder}: not a suite (no evals/ folder); go to one, name one with -C DIR, or make one with `cli init DIR`"
    )


def is_secret(variable: str) -> bool:
    """Whether an environment variable of this name holds a key."""
    return variable.endswith(("_KEY", "_TOKEN", "_SECRET"))


def cache_dir() -> Path:
    """The user's cache folder for toolchain and packages; CONVEX_EVALS_CACHE overrides it."""
    override = os.environ.get("CONVEX_EVALS_CACHE")
    if override:
        return Path(override).absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("convex-evals", appauthor=False))
