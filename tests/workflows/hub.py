"""What GitHub holds: a repository, its secrets and variables, tokens, artifacts, caches, and what happens to it."""

from __future__ import annotations

import json
import os
import secrets as random_secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, clean_environment
from tests.end_to_end.repositories import git
from tests.workflows.artifacts import Artifacts
from tests.workflows.caches import Caches
from tests.workflows.concurrency import Groups
from tests.workflows.git_server import serve_repositories
from tests.workflows.permissions import Rights

OWNER, NAME = "acme", "evals"
REPOSITORY = f"{OWNER}/{NAME}"
FORK = f"stranger/{NAME}"
DEFAULT_BRANCH = "main"
# Commands that a test must not execute: they leave a line in `Hub.calls`.
RECORDED = ("pip", "sudo", "apt-get")


@dataclass(frozen=True)
class Event:
    """What starts workflows: `GITHUB_EVENT_NAME`, and the context `github.event`."""

    name: str
    ref: str
    sha: str
    payload: dict[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    base_ref: str = ""
    head_ref: str = ""
    from_fork: bool = False


@dataclass
class Hub:
    """Start it with `hosting`. `machine` is the environment of the runners before GitHub's own variables."""

    folder: Path
    url: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    vars: dict[str, str] = field(default_factory=dict)
    environments: dict[str, dict[str, str]] = field(default_factory=dict)  # secrets of each
    machine: dict[str, str] = field(default_factory=dict)
    shims: dict[str, str] = field(default_factory=dict)  # command: the text of an executable file
    actions: dict[str, Callable[..., dict[str, Any]]] = field(default_factory=dict)  # beside those of actions.py
    groups: Groups = field(default_factory=Groups)
    _runs: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.caches = Caches(self.folder / "caches")

    @property
    def repository(self) -> Path:
        """The bare repository."""
        return self.folder / "repositories" / REPOSITORY

    def next_run(self) -> int:
        with self._lock:
            self._runs += 1
            return self._runs

    def artifacts(self, run_id: int) -> Artifacts:
        return Artifacts(self.folder / "artifacts" / str(run_id))

    # Tokens

    @property
    def tokens_file(self) -> Path:
        """`{TOKEN: {SCOPE: LEVEL}}`, which shims may read."""
        return self.folder / "tokens.json"

    def issue_token(self, rights: Rights) -> str:
        token = f"ghs_{random_secrets.token_hex(18)}"
        with self._lock:
            self._write_tokens({**self.tokens(), token: rights})
        return token

    def revoke_token(self, token: str) -> None:
        with self._lock:
            self._write_tokens({key: rights for key, rights in self.tokens().items() if key != token})

    def tokens(self) -> dict[str, Rights]:
        found: dict[str, Rights] = json.loads(self.tokens_file.read_text()) if self.tokens_file.exists() else {}
        return found

    def _write_tokens(self, tokens: Mapping[str, Rights]) -> None:
        scratch = self.tokens_file.with_suffix(".new")
        scratch.write_text(json.dumps(tokens))
        scratch.replace(self.tokens_file)

    def may_push(self, token: str) -> bool | None:
        rights = self.tokens().get(token)
        return None if rights is None else rights.get("contents") == "write"

    # Commands in front of PATH

    @property
    def commands(self) -> Path:
        return self.folder / "bin"

    def write_commands(self) -> None:
        run = {"cli": f"'{sys.executable}' '{ROOT / 'cli.py'}'", "python": f"'{sys.executable}'"}
        run["python3"] = run["python"]
        texts = {name: f'#!/bin/sh\nexec {words} "$@"\n' for name, words in run.items()}
        texts |= {name: f"#!/bin/sh\necho \"{name} $*\" >> '{self._calls}'\n" for name in RECORDED}
        self.commands.mkdir(parents=True, exist_ok=True)
        for name, text in (texts | self.shims).items():
            (self.commands / name).write_text(text)
            (self.commands / name).chmod(0o755)

    @property
    def _calls(self) -> Path:
        return self.folder / "calls.txt"

    def calls(self) -> list[str]:
        """Lines of what was recorded instead of done."""
        return self._calls.read_text().splitlines() if self._calls.exists() else []

    # The repository, as its developers change it

    def push(self, clone: Path, revision: str = "HEAD", branch: str = DEFAULT_BRANCH) -> str:
        """The commit that is now the head of `branch`."""
        git(clone, "push", "-q", "--force", str(self.repository), f"{revision}:refs/heads/{branch}")
        return self.head(branch)

    def head(self, branch: str = DEFAULT_BRANCH) -> str:
        return git(self.repository, "rev-parse", f"refs/heads/{branch}")

    def _facts(self, name: str = REPOSITORY) -> dict[str, Any]:
        owner = {"login": name.partition("/")[0]}
        return {"full_name": name, "name": NAME, "owner": owner, "default_branch": DEFAULT_BRANCH}

    def pushed(self, branch: str = DEFAULT_BRANCH, *, before: str = "0" * 40) -> Event:
        after = self.head(branch)
        payload = {"ref": f"refs/heads/{branch}", "before": before, "after": after, "repository": self._facts()}
        return Event("push", f"refs/heads/{branch}", after, payload)

    def tagged(self, clone: Path, tag: str) -> Event:
        git(clone, "push", "-q", str(self.repository), f"HEAD:refs/tags/{tag}")
        sha = git(self.repository, "rev-parse", f"refs/tags/{tag}")
        return Event("push", f"refs/tags/{tag}", sha, {"ref": f"refs/tags/{tag}", "repository": self._facts()})

    def scheduled(self, cron: str = "0 0 * * *") -> Event:
        payload = {"schedule": cron, "repository": self._facts()}
        return Event("schedule", f"refs/heads/{DEFAULT_BRANCH}", self.head(), payload)

    def dispatched(self, branch: str = DEFAULT_BRANCH, **inputs: Any) -> Event:
        """Started by hand, on `branch`; a `-` in the name of an input is written `_`, if it has no other."""
        payload = {"inputs": inputs, "repository": self._facts()}
        return Event("workflow_dispatch", f"refs/heads/{branch}", self.head(branch), payload, inputs)

    def pull_request(
        self,
        clone: Path,
        number: int = 1,
        *,
        branch: str = "change",
        base: str = DEFAULT_BRANCH,
        action: str = "synchronize",
        fork: bool = False,
        label: str | None = None,
        labels: tuple[str, ...] = (),
    ) -> Event:
        """A pull request with what is committed in `clone`, and its merge with `base`, which workflows check out."""
        git(clone, "push", "-q", "--force", str(self.repository), f"HEAD:refs/pull/{number}/head")
        head = git(self.repository, "rev-parse", f"refs/pull/{number}/head")
        if not fork:
            git(self.repository, "update-ref", f"refs/heads/{branch}", head)
        merge = self._merge(self.head(base), head, number)
        request = {
            "number": number,
            "head": {"ref": branch, "sha": head, "repo": self._facts(FORK if fork else REPOSITORY)},
            "base": {"ref": base, "sha": self.head(base), "repo": self._facts()},
            "labels": [{"name": name} for name in labels],
        }
        payload = {"action": action, "number": number, "pull_request": request, "repository": self._facts()}
        if label is not None:
            payload["label"] = {"name": label}
        ref = f"refs/pull/{number}/merge"
        return Event("pull_request", ref, merge, payload, base_ref=base, head_ref=branch, from_fork=fork)

    def _merge(self, base: str, head: str, number: int) -> str:
        tree = git(self.repository, "merge-tree", "--write-tree", base, head).splitlines()[0]
        identity = ("-c", "user.name=GitHub", "-c", "user.email=noreply@example.org")
        parents = ("-p", base, "-p", head)
        merge = git(self.repository, *identity, "commit-tree", tree, *parents, "-m", f"Merge {head} into {base}")
        git(self.repository, "update-ref", f"refs/pull/{number}/merge", merge)
        return merge


@contextmanager
def hosting(folder: Path, source: Path, **more: Any) -> Iterator[Hub]:
    """A hub below `folder` whose repository has what is committed in `source` on its branch `main`."""
    more.setdefault("machine", {k: v for k, v in clean_environment().items() if k not in ("HOME", "TMPDIR")})
    hub = Hub(folder, **more)
    hub.repository.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", DEFAULT_BRANCH, str(hub.repository)], check=True)
    hub.push(source)
    hub.write_commands()
    hub.machine.setdefault("PATH", os.environ["PATH"])
    with serve_repositories(folder / "repositories", hub.may_push) as hub.url:
        yield hub
