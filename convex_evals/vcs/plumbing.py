"""A repository of the user's in git's smallest steps: objects, references and indexes, without its working tree."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from convex_evals.vcs.git_command import GitFailed, write_git
from convex_evals.vcs.objects import Commands, Git, Repo

_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
_LONGEST_COMPLAINT = 500  # characters


@dataclass(frozen=True)
class Files:
    """Contents that are stored already, by path relative to the top of the repository."""

    blobs: dict[str, str]
    folders: tuple[str, ...]  # all of `blobs` stand below these

    def stage(self, git: Git, index: Mapping[str, str] | None = None) -> None:
        """Add them to the user's index, or to the one that the variables `index` name. What is staged stays so."""
        lines = "".join(f"100644 {blob}\t{path}\0" for path, blob in sorted(self.blobs.items()))
        git.update_index("--add", "-z", "--index-info", istream=BytesIO(os.fsencode(lines)), env=index)


class _Writing(Commands):
    def printed(self, words: Sequence[str], stdin: bytes, env: Mapping[str, str]) -> bytes:
        # Of the keys that git does not see, those that its credential helpers look for.
        tokens = {name: os.environ[name] for name in _TOKENS if name in os.environ}
        try:
            return write_git(Path(str(self.working_dir)), *words, stdin=stdin, own={**tokens, **env})
        except GitFailed as error:
            raise GitFailed(_complaint(str(error))) from None


class OwnRepo(Repo):
    """A repository of the user's. Every method raises `GitFailed`, with one line, where it says nothing else."""

    GitCommandWrapperType = _Writing

    def ask(self, command: str, *words: str) -> str:
        """What git prints; nothing where it fails."""
        try:
            return str(getattr(self.git, command)(*words))
        except GitFailed:
            return ""

    def newest(self, name: str) -> str | None:
        """The commit that a reference means; None where there is none."""
        return self.ask("rev_parse", "--verify", "-q", name) or None

    def stored(self, paths: Sequence[str]) -> dict[str, str]:
        """Store files of the working tree, as they are; the names of their blobs by path."""
        # A filter is a command, and the working tree says which one applies.
        lines = BytesIO(os.fsencode("".join(f"{path}\n" for path in paths)))
        hashed = self.git.hash_object("-w", "--no-filters", "--stdin-paths", istream=lines).split()
        return dict(zip(paths, hashed, strict=True))

    def blobs(self, commit: str, folders: Sequence[str]) -> dict[str, str]:
        """The blobs of a commit below `folders`, by path."""
        listed = self.git.ls_tree("-r", "-z", commit, "--", *folders).split("\0")
        return {path: meta.split()[2] for meta, _, path in (line.partition("\t") for line in listed if line)}

    def changed(self, before: str, after: str) -> set[str]:
        """The paths at which two commits differ."""
        listed = self.git.diff_tree("-r", "-z", "--no-renames", "--name-only", before, after)
        return set(filter(None, listed.split("\0")))

    def with_files(self, base: str | None, files: Files) -> str:
        """The tree of `base` (None: an empty one) with `files`, made in an index of its own."""
        with tempfile.TemporaryDirectory(prefix="index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self.git.read_tree(base or "--empty", env=index)
            files.stage(self.git, index)
            return str(self.git.write_tree(env=index))

    def commit_tree(self, tree: str, parent: str | None, message: str) -> str:
        """A commit of `tree`, signed where the user signs; no branch is moved."""
        sign = ["-S"] if self.ask("config", "--type=bool", "--get", "commit.gpgsign") == "true" else []
        parents = ["-p", parent] if parent else []
        return str(self.git.commit_tree(*sign, *parents, tree, istream=BytesIO(message.encode())))

    def move_branch(self, name: str, before: str | None, after: str, why: str) -> None:
        """Let a branch that stands at `before` (None: it is not there) stand at `after`."""
        self.git.update_ref("-m", why, f"refs/heads/{name}", after, before or "0" * 40)

    def switch_files(self, before: str, after: str) -> None:
        """Change the working tree and the index from one commit to another, as far as nothing uncommitted is lost."""
        self.ask("update_index", "-q", "--refresh")
        self.git.read_tree("-m", "-u", before, after)

    def fetch(self, remote: str, branch: str) -> str | None:
        """The newest commit of the remote's branch; None where there is no such branch yet."""
        tracking = f"refs/remotes/{remote}/{branch}"
        try:
            self.git.fetch("-q", "--no-tags", remote, f"+refs/heads/{branch}:{tracking}")
        except GitFailed as error:
            if "couldn't find remote ref" in str(error):
                return None
            raise
        return self.newest(tracking)

    def push(self, commit: str, remote: str, branch: str) -> None:
        """Let the remote's branch stand at `commit`, where that comes after what is there."""
        self.git.push("-q", remote, f"{commit}:refs/heads/{branch}")


def _complaint(text: str) -> str:
    """What git said, on one line: its complaints alone, and no password of a URL."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("hint:", "To "))]
    told = [x for x in lines if re.search(r"rejected|denied|fatal:|error:|remote:|ERROR|not found", x)] or lines
    told = [
        re.sub(r"^(remote:\s*)?(fatal|error):\s*", r"\1", x) for x in told if not x.startswith("error: failed to push")
    ]
    return re.sub(r"//[^/@\s]+@", "//", "; ".join(told))[:_LONGEST_COMPLAINT] or "git said nothing"
