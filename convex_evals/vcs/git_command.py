"""The one way to start git.

A repository may have come with a suite from elsewhere, its `.git` included. Commands that only look run without hooks,
fsmonitor, filters, external diffs, signatures, fetching, credentials and the system's settings, and write nothing.
Commits and pushes are made in repositories of the user's own: there, how a remote is reached and who commits is as the
user configured it; hooks are off all the same, since `core.hooksPath` may lead into the working tree, which a pull
request may have changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from convex_evals.config import is_secret
from convex_evals.errors import UserError

READ_SECONDS = 60
WRITE_SECONDS = 300  # of one fetch or push
# An object of a few kilobytes may unpack to gigabytes.
_MEMORY = 2 * 1024**3  # bytes of addresses
_LONGEST_OUTPUT = 64 * 1024**2  # bytes
_LONGEST_ERROR = 64 * 1024  # bytes
_NO_COMMANDS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    # Digits that several objects begin with mean none.
    "core.disambiguate=none",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "log.showSignature=false",
    # Files anywhere, which may have no end.
    "log.mailmap=false",
    "diff.orderFile=/dev/null",
    # A folder of a suite that looks like a repository is none.
    "safe.bareRepository=explicit",
)
_READ_ONLY = (
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.askPass=false",
    "credential.helper=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "protocol.allow=never",
    "diff.autoRefreshIndex=false",
    "diff.ignoreSubmodules=all",
    "status.submoduleSummary=false",
    # Packs are mapped in pieces, so that large ones fit below `_MEMORY`.
    "core.packedGitWindowSize=32m",
    "core.packedGitLimit=512m",
)
_READ_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # An object that is missing would be fetched, by a command that the repository names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
# Of the user's variables for git, those that do not say which repository is meant, or what git executes.
_KEPT = re.compile(r"GIT_((AUTHOR|COMMITTER)_\w+|CONFIG_GLOBAL|CEILING_DIRECTORIES)")
_KEPT_TO_WRITE = re.compile(r"GIT_(SSH\w*|ASKPASS|PROXY\w*|SSL\w*|HTTP\w*|CONFIG_(COUNT|KEY_\d+|VALUE_\d+|PARAMETERS))")
# Commands that compare files of the working tree, and would put them through filters before.
_LOOKING_AT_FILES = frozenset({"status", "diff"})
# Commands that list what is not ignored.
_LISTING_FILES = frozenset({"status", "ls-files"})
_NO_MATCH = 1  # exit status of `git config --get-regexp`
_LONGEST_DRIVERS = 64 * 1024  # bytes of names, which become variables
_DRIVERS = r"^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(command|textconv)|merge\..*\.driver)$"


class GitFailed(Exception):
    """A git command failed; the message is what it said."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status  # its exit status; None where it was stopped, or did not start


def read_git(folder: Path, *command: str, stdin: bytes = b"") -> bytes:
    """What a git command prints that only looks. It executes nothing and writes nothing. Raises `GitFailed`."""
    environment = _environment(_KEPT, _READ_ENVIRONMENT)
    options: tuple[str, ...] = (*_NO_COMMANDS, *_READ_ONLY)
    if command[0] in _LISTING_FILES:
        options = (*options, f"core.excludesFile={_users_excludes(Path.home())}")
    if command[0] in _LOOKING_AT_FILES:
        environment |= _without_drivers(folder, environment)
    return _run(folder, options, command, environment, stdin, READ_SECONDS)


@cache
def _users_excludes(home: Path) -> str:
    """What the user has git ignore everywhere: a repository's own settings may name any file in its place."""
    try:
        found = read_git_alone("config", "--global", "--includes", "--type=path", "--get", "core.excludesFile")
    except GitFailed:
        found = b""
    named = os.fsdecode(found.removesuffix(b"\n"))
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return named or str(settings / "git" / "ignore")


def read_git_text(folder: Path, *command: str) -> str:
    """The same as text, without line ends at its end. Raises `GitFailed`."""
    return read_git(folder, *command).decode("utf-8", "replace").rstrip("\n")


def read_git_alone(*command: str) -> bytes:
    """What a git command prints that needs no repository, and finds none. Raises `GitFailed`."""
    environment = _environment(_KEPT, {**_READ_ENVIRONMENT, "GIT_DIR": os.devnull})
    return _run(Path("/"), _NO_COMMANDS, command, environment, b"", READ_SECONDS)


def write_git(folder: Path, *command: str, stdin: bytes, own: Mapping[str, str]) -> bytes:
    """What a git command prints that changes a repository of the user's; `own` are variables of it.

    Raises `GitFailed`.
    """
    kept = re.compile(f"{_KEPT.pattern}|{_KEPT_TO_WRITE.pattern}")
    environment = _environment(kept, {"GIT_TERMINAL_PROMPT": "0", **own})
    return _run(folder, _NO_COMMANDS, command, environment, stdin, WRITE_SECONDS, limited=False)


def _environment(kept: re.Pattern[str], own: Mapping[str, str]) -> dict[str, str]:
    """The user's without what leads git elsewhere, and without keys: git's environment is in the process listing."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or kept.fullmatch(name)}
    blank = {name: "" for name in found if is_secret(name) and not name.startswith("GIT_")}
    return {**found, **blank, "GIT_TERMINAL_PROMPT": "0", **own}


def _without_drivers(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that take away the commands which the repository's attributes may name.

    Raises `UserError` where these are not all known: a command that is not known would be executed.
    """
    command = ["config", "--includes", "-z", "--name-only", "--get-regexp", _DRIVERS]
    try:
        listed = _run(folder, _NO_COMMANDS, command, environment, b"", READ_SECONDS)
    except GitFailed as error:
        if error.status != _NO_MATCH:
            raise UserError(
                f"{folder}: git cannot list the filters in its settings ({str(error).partition(chr(10))[0]}); "
                "shorten .git/config and what it includes"
            ) from None
        listed = b""
    names = [os.fsdecode(name) for name in dict.fromkeys(listed.split(b"\0")) if name]
    if sum(map(len, names)) > _LONGEST_DRIVERS:
        raise UserError(
            f"{folder}: its Git settings name {len(names):,} filters, with names of more than "
            f"{_LONGEST_DRIVERS >> 10} KiB together; remove some from .git/config"
        )
    found = {"GIT_CONFIG_COUNT": str(len(names))}
    for n, name in enumerate(names):
        found |= {
            f"GIT_CONFIG_KEY_{n}": name,
            f"GIT_CONFIG_VALUE_{n}": "false" if name.endswith(".required") else "",
        }
    return found


def _run(
    folder: Path,
    options: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str],
    stdin: bytes,
    seconds: float,
    *,
    limited: bool = True,
) -> bytes:
    argv = ["git", "--no-pager", *(word for option in options for word in ("-c", option)), *command]
    # Files, since they can be limited; a pipe is read to its end, wherever that is.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = _start(argv, folder, environment, out, err)
        try:
            if limited:
                _limit(process.pid)
            process.communicate(stdin, seconds)
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git {command[0]} did not end within {seconds:g} s") from None
        finally:
            if process.returncode is None:
                from convex_evals.process import kill_group

                kill_group(process.pid)
                process.communicate()
        if process.returncode < 0:
            most = f"{_LONGEST_OUTPUT >> 20} MiB"
            raise GitFailed(f"git {command[0]} was killed, or ended for printing more than {most}")
        if process.returncode:
            err.seek(0)
            raise GitFailed(err.read(_LONGEST_ERROR).decode("utf-8", "replace").strip(), process.returncode)
        out.seek(0)
        return out.read()


def _start(
    argv: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise GitFailed(str(error)) from None


def _limit(pid: int) -> None:
    """In memory and output, where the system can do that for another process."""
    if hasattr(resource, "prlimit"):
        for limit, most in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, _LONGEST_OUTPUT)):
            with contextlib.suppress(OSError):  # it may have ended
                resource.prlimit(pid, limit, (most, most))
