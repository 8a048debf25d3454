"""Where this tool comes from: a commit of which repository, as it was recorded when the package was built.

`scripts/record_origin.py` imports this where nothing but Python and the build back end is installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

RECORD = "origin.json"  # in the package, where it was built and not checked out
_PACKAGE = Path(__file__).parents[1]
_AT_HOST = re.compile(r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!//)(.+)")
_PATH = re.compile(r"[\w.~-]+(?:/[\w.~-]+)+")

Git = Callable[..., str]  # what a git command prints, without line ends at its end


@dataclass(frozen=True)
class Origin:
    """What is known of it; None what is not."""

    repository: str | None = None  # an address that Git and browsers know, without a user's name
    commit: str | None = None  # None where files had changed since, or the repository is not known to have it
    tag: str | None = None  # of a release: that of this version

    def requirement(self, version: str) -> str | None:
        """What pip installs the same from: a release, else a commit."""
        if self.tag:
            return f"convex-evals=={version}"
        return f"convex-evals @ git+{self.repository}@{self.commit}" if self.repository and self.commit else None

    def page(self, path: str) -> str:
        """Where a file of the repository is read, by its path: an address, else in words."""
        if self.repository is None:
            return f"{path} of convex-evals"
        return f"{self.repository}/blob/{self.tag or self.commit or 'HEAD'}/{path}"

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"


def find_origin(version: str, git: Git) -> Origin:
    """What `git`, which runs in the top folder of a checkout, knows of it. What `git` raises is raised."""
    commit = git("rev-parse", "HEAD")
    tagged = f"v{version}" in git("tag", "--points-at", "HEAD").split()
    clean = not git("status", "--porcelain")
    # Prints nothing and fails where there is none; `--get-all` of none would, too.
    remotes = git("remote").split()
    address = web_address(git("config", "--get", "remote.origin.url")) if "origin" in remotes else None
    pushed = tagged or git("for-each-ref", "--count=1", "--contains", commit, "refs/remotes/origin")
    return Origin(address, commit if clean and pushed else None, f"v{version}" if clean and tagged else None)


def web_address(remote: str) -> str | None:
    """The address of a Git remote in a browser: https, without user, password and `.git`. None where it has none."""
    if match := _AT_HOST.fullmatch(remote):
        host, path = match[1], match[2]
    else:
        parts = urlsplit(remote)
        if parts.scheme not in ("https", "ssh") or not parts.hostname:
            return None
        # A port of ssh says nothing of that of https.
        port = f":{parts.port}" if parts.port and parts.scheme == "https" else ""
        host, path = parts.hostname + port, parts.path
    path = path.strip("/").removesuffix(".git")
    return f"https://{host}/{path}" if _PATH.fullmatch(path) else None


@cache
def own_origin() -> Origin:
    """The origin of the package that is running: as recorded, else that of the checkout that it is in."""
    from convex_evals import __version__
    from convex_evals.errors import UserError
    from convex_evals.vcs.git_command import GitFailed, read_git_text

    try:
        return Origin(**json.loads((_PACKAGE / RECORD).read_text(encoding="utf-8")))
    except FileNotFoundError:
        pass
    checkout = _PACKAGE.parent
    if not (checkout / ".git").exists():
        return Origin()
    try:
        return find_origin(__version__, lambda *command: read_git_text(checkout, *command))
    except (GitFailed, UserError):
        return Origin()
