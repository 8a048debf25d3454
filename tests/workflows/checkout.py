"""actions/checkout: a clone of the repository over HTTP, as its steps appear in a runner's log."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.workflows.hub import DEFAULT_BRANCH, REPOSITORY, Event, Hub


class CheckoutFailed(Exception):
    """The step fails with this message."""


@dataclass(frozen=True)
class Wanted:
    source: str  # a ref, or a commit
    tracking: str  # where it is stored in the clone
    branch: str | None  # that is checked out; None: a detached head

    @property
    def checkout(self) -> tuple[str, ...]:
        new_branch = ("-B", self.branch) if self.branch else ()
        return ("checkout", "-q", "--force", *new_branch, self.tracking)


def resolve(hub: Hub, event: Event, ref: str) -> Wanted:
    """What `ref` names; without one, the commit that the workflow was started for."""
    source = ref or event.sha
    if re.fullmatch(r"[0-9a-f]{40}", ref):
        return Wanted(ref, f"refs/remotes/origin/{ref}", None)
    full = ref or event.ref
    if not full.startswith("refs/"):
        kinds = [kind for kind in ("heads", "tags") if _exists(hub.repository, f"refs/{kind}/{full}")]
        if not kinds:
            raise CheckoutFailed(f"A branch or tag with the name '{ref}' could not be found")
        full = source = f"refs/{kinds[0]}/{full}"
    _, kind, name = full.split("/", 2)
    if kind == "heads":
        return Wanted(source, f"refs/remotes/origin/{name}", name)
    return Wanted(source, full if kind == "tags" else f"refs/remotes/{kind}/{name}", None)


def _exists(repository: Path, ref: str) -> bool:
    argv = ["git", "show-ref", "--verify", "--quiet", ref]
    return subprocess.run(argv, cwd=repository, check=False).returncode == 0


def clone(hub: Hub, folder: Path, home: Path, wanted: Wanted, token: str, *, depth: int, persist: bool) -> None:
    """Check out into `folder`, whose contents are deleted. With `persist`, its configuration holds the token."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    header = (f"http.{hub.url}/.extraheader", f"AUTHORIZATION: basic {login}")

    def git(*words: str) -> None:
        env = {**hub.machine, "HOME": str(home), "GIT_TERMINAL_PROMPT": "0"}
        done = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CheckoutFailed(f"git {' '.join(words)}: {done.stderr.strip()}")

    git("init", "-q", "-b", DEFAULT_BRANCH)
    git("remote", "add", "origin", f"{hub.url}/{REPOSITORY}")
    fetch = ("-c", "=".join(header), "fetch", "-q", "origin")
    if depth == 0:
        git(*fetch, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
    limits = (f"--depth={depth}", "--no-tags") if depth else ()
    git(*fetch, *limits, f"+{wanted.source}:{wanted.tracking}")
    git(*wanted.checkout)
    if persist:
        git("config", "--local", *header)
