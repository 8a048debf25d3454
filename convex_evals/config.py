"""`convex-evals.yaml`, and where things of this user and machine stand."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import is_there, read_inside, refuse_links
from convex_evals.records.base import Record
from convex_evals.records.human import parse_human
from convex_evals.records.names import DeploymentName

CONFIG_NAME = "convex-evals.yaml"
# Where runs of sessions are, beside the suite's: a folder of their own, so that neither leaderboards nor publishing,
# pages or guidelines take them for runs of evals.
SESSION_RUNS = "session-runs"
# Below the folder that results stand in.
JOURNAL = Path(".cache", "convex-evals", "journal")
HUNKS = Path(".cache", "convex-evals", "hunks")  # guidelines that `cli validate-guidelines` made
PACKAGES_BEFORE = date(2026, 11, 20)


class Thinking(Record):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = Field(default=None, ge=0, le=1_000_000)


class Sent(Record):
    """The parameters that an experiment may set."""

    frequency_penalty: float | None = Field(default=None, ge=-10, le=10)
    min_p: float | None = Field(default=None, ge=0, le=1)
    presence_penalty: float | None = Field(default=None, ge=-10, le=10)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    repetition_penalty: float | None = Field(default=None, ge=0, le=10)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    stop: Annotated[str, Field(max_length=100)] | Annotated[list[str], Field(max_length=16)] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    thinking: Thinking | None = None
    top_k: int | None = Field(default=None, ge=0, le=1_000_000)
    top_p: float | None = Field(default=None, ge=0, le=1)
    verbosity: Literal["low", "medium", "high"] | None = None


class Experiment(Record):
    """A way of asking: which guidelines, which prompt, which extras."""

    guidelines: str | None = Field(
        default="guidelines/convex.md",
        description="file, relative to this one; `path@REV` reads it from Git; null: none are given",
    )
    prompt: str = Field(default="guidelines/prompt.j2", description="template of the messages, relative to this file")
    web_search: bool = Field(default=False, description="offer the provider's own web search")
    parameters: dict[str, Any] = Field(
        default={},
        description="sent with every request, as LiteLLM names them: frequency_penalty, min_p, presence_penalty, "
        "reasoning_effort, repetition_penalty, seed, stop, temperature, thinking, top_k, top_p, verbosity",
    )

    @field_validator("parameters")
    @classmethod
    def _are_harmless(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Neither where requests go, nor what they carry besides, nor how much they may cost."""
        for name in parameters:
            if name not in Sent.model_fields:
                near = difflib.get_close_matches(name, Sent.model_fields, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"available: {', '.join(sorted(Sent.model_fields))}"
                raise ValueError(f"'{name}' is not a parameter of a model; {hint}")
        Sent.model_validate(parameters)
        return parameters


EXPERIMENTS = {
    "default": Experiment(),
    "no_guidelines": Experiment(guidelines=None),
    "web_search": Experiment(web_search=True),
    "web_search_no_guidelines": Experiment(guidelines=None, web_search=True),
}


_TOKEN = re.compile(r"CONVEX_(?:[A-Z0-9_]+_)?TOKEN")


class DeploymentSettings(Record):
    """A leaderboard's deployment, which `cli publish` sends runs to."""

    url: str = Field(description="like https://happy-otter-123.convex.cloud; plain http only on this machine")
    token_env: str = Field(
        default="CONVEX_AUTH_TOKEN", description="variable of the token: CONVEX_TOKEN, CONVEX_NAME_TOKEN or the like"
    )
    guard: Literal["ci_main"] | None = Field(
        default=None, description="`ci_main`: only GitHub Actions may publish, on main and not for a pull request"
    )

    @field_validator("url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        parts = urlsplit(url.rstrip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable() or "@" in parts.netloc:
            raise ValueError("is not an address like https://happy-otter-123.convex.cloud, without a password")
        if parts.path or parts.query or parts.fragment:
            raise ValueError("has a path; give the deployment's address alone")
        if parts.scheme == "http" and not is_loopback(url):
            raise ValueError("is not encrypted, and the token would be readable on the way; use https")
        return f"{parts.scheme}://{parts.netloc.lower()}"

    @field_validator("token_env")
    @classmethod
    def _is_a_token(cls, name: str) -> str:
        # The settings may have come with a pull request: a provider's key must not be sent under this name.
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"'{name}' is not a variable for a deployment's token; call it like CONVEX_PROD_TOKEN")
        return name


_CHOSEN = re.compile(r"tag:\S+|[A-Za-z0-9][\w.+@:-]*/\S+")


class Schedule(Record):
    """What `cli due` keeps up to date. Models are slugs, or `tag:WORD` for all models of models.yaml with that tag."""

    models: tuple[str, ...] | None = Field(
        default=None, description="which are asked again; default: all of the repository's own models.yaml"
    )
    experiments: tuple[str, ...] = Field(default=("default", "no_guidelines"), description="each model under each")
    curated: tuple[str, ...] = Field(
        default=("tag:curated",),
        description="models that are due at once when the guidelines or the newest benchmark have changed; those that "
        "the newest benchmark names are, too",
    )

    @field_validator("models", "curated")
    @classmethod
    def _name_models(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        bad = next((name for name in names or () if not _CHOSEN.fullmatch(name)), None)
        if bad is not None:
            raise ValueError(f"'{bad}' is neither a slug, provider/name, nor tag:WORD")
        return names


class ProjectConfig(Record):
    """`convex-evals.yaml` at the root of a suite. Every key has a default; the file is optional."""

    runs_dir: str = Field(
        default="runs",
        description="where results are written: a folder below this file's, else give --runs-dir; not used with -C",
    )
    packages_before: date = Field(
        default=PACKAGES_BEFORE,
        description="npm packages published after this day are not used, so that `^1.31` means the same next year",
    )
    strict_types: bool = Field(
        default=True,
        description="whether projects are type-checked strictly whatever their tsconfig.json says; false: as it says",
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

    schedule: Schedule = Field(default=Schedule(), description="what `cli due` keeps up to date; not read with -C")
    deployments: dict[DeploymentName, DeploymentSettings] = Field(
        default={}, description="leaderboards that `cli publish` sends runs to, by name; not read with -C"
    )

    @field_validator("runs_dir")
    @classmethod
    def _is_inside(cls, path: str) -> str:
        if not is_inside(path):
            raise ValueError("leads out of this folder; name a folder in it, and others with --runs-dir")
        return path

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
            hint = f"did you mean '{near[0]}'?" if near else f"available: {', '.join(self.experiments)}"
            raise UserError(f"-e {name}: no such experiment; {hint}")
        return self.experiments[name]


def bare_experiment(experiments: Mapping[str, Experiment], name: str) -> str | None:
    """The experiment that asks as `name` does and gives no guidelines; None where there is none."""
    alike = experiments[name].model_copy(update={"guidelines": None})
    return next((other for other, one in experiments.items() if one == alike), None)


@dataclass(frozen=True)
class Workspace:
    """Which suite is read and which folders are written."""

    suite: Path
    home: Path  # where results, the journal, .env and models.yaml stand: the suite, or the working folder with -C
    runs_dir: Path
    journal_dir: Path
    config: ProjectConfig

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own suite, whose code people have read; not one that -C names."""
        return self.suite == self.home

    @property
    def workers(self) -> int:
        return self.config.workers or os.cpu_count() or 1


def open_workspace(suite: Path | None, runs_dir: Path | None, cwd: Path, *, of_sessions: bool = False) -> Workspace:
    """Settings and folders of a command.

    Without `suite` (`-C`), the working folder is the suite, and results go beside it. With it, the suite is only
    read: results go to `runs/` of the working folder unless `runs_dir` says otherwise. Runs `of_sessions` have a folder
    of their own.
    """
    root = _suite_root(suite or cwd, given=suite is not None)
    config = load_config(root)
    home = root if suite is None else cwd
    if suite is not None:
        # How much of this machine is used its user says, not the suite.
        own = load_config(cwd)
        config = config.model_copy(update={"workers": own.workers, "concurrency": own.concurrency})
    if runs_dir is None:
        usual = config.runs_dir if suite is None else ProjectConfig().runs_dir
        runs_dir = home / (SESSION_RUNS if of_sessions else usual)
        # The folder may have come with a pull request.
        refuse_links(home, runs_dir, "put a folder there, or name the folder of the results with --runs-dir")
    if runs_dir.is_file():
        raise UserError(f"{runs_dir.absolute()}: is a file; move it away, or name a folder with --runs-dir")
    return Workspace(root, home.absolute(), runs_dir.absolute(), home.absolute() / JOURNAL, config)


def load_config(root: Path) -> ProjectConfig:
    path = root / CONFIG_NAME
    return parse_human(read_inside(root, path), path, ProjectConfig) if is_there(root, path) else ProjectConfig()


def _suite_root(folder: Path, *, given: bool) -> Path:
    folder = folder.absolute()
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "no such folder"
        raise UserError(f"{folder}: {what}; -C takes the folder of a suite")
    found = folder if (folder / "evals").is_dir() else None if given else find_suite(folder)
    if found:
        return found
    raise UserError(
        f"{folder}: not a suite (no evals/ folder); go to one, name one with -C DIR, or make one with `cli init DIR`"
    )


def find_suite(folder: Path) -> Path | None:
    """The suite that `folder` stands in."""
    return next((each for each in (folder, *folder.parents) if (each / "evals").is_dir()), None)


def is_inside(path: str) -> bool:
    """Whether a relative path stays in its folder, as it is written."""
    return bool(path) and not Path(path).is_absolute() and ".." not in Path(path).parts and "\0" not in path


def is_hidden(path: str) -> bool:
    """Whether a path leads to hidden files, where keys stand (`.env`, `.git/config`), and which no prompt needs."""
    parts, made = Path(path).parts, HUNKS.parts
    own = parts[len(made) :] if parts[: len(made)] == made else parts
    return any(part.startswith(".") and part != ".." for part in own)


def is_secret(variable: str) -> bool:
    """Whether an environment variable of this name holds a key."""
    return variable.endswith(("_KEY", "_TOKEN", "_SECRET"))


def leads_elsewhere(variable: str) -> bool:
    """Whether an environment variable of this name says where requests go."""
    return re.search(r"(?i)(^|_)(URL|URI|BASE|ENDPOINT|PROXY|HOST|SERVERS)$", variable) is not None


def is_loopback(url: str) -> bool:
    """Whether what is sent to this address stays on this machine."""
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def cache_dir() -> Path:
    """The user's cache folder for toolchain and packages; CONVEX_EVALS_CACHE overrides it."""
    override = os.environ.get("CONVEX_EVALS_CACHE")
    if override:
        return Path(override).absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("convex-evals", appauthor=False))
