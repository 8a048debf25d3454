"""Repositories that would have git run a command."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.factories import write_files

HOOKS = [
    *("fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change", "post-merge", "post-rewrite"),
    *("pre-commit", "pre-push", "pre-rebase", "prepare-commit-msg", "reference-transaction", "push-to-checkout"),
]
EVAL = "000-fundamentals/000-answer"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def by_config(*settings: tuple[str, str]) -> Callable[[Path, Path], None]:
    def plant(suite: Path, command: Path) -> None:
        for name, value in settings:
            git(suite, "config", name, value.replace("PROGRAM", str(command)))

    return plant


def by_attribute(*settings: tuple[str, str]) -> Callable[[Path, Path], None]:
    """A driver for all files, and files that look changed, so that their contents are compared."""

    def plant(suite: Path, command: Path) -> None:
        (suite / ".git/info").mkdir(exist_ok=True)
        (suite / ".git/info/attributes").write_text("* filter=evil diff=evil merge=evil\n")
        by_config(*settings)(suite, command)
        later = time.time() + 100
        for path in suite.rglob("*"):
            if ".git" not in path.parts:
                os.utime(path, (later, later))

    return plant


def by_hooks(suite: Path, command: Path) -> None:
    for name in HOOKS:
        hook = suite / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(command.read_text())
        hook.chmod(0o755)
    for path in suite.rglob("*.md"):
        os.utime(path, (time.time() + 100,) * 2)


def by_promise(url: str, *more: tuple[str, str]) -> Callable[[Path, Path], None]:
    """Objects that are missing, to be fetched by a command."""

    def plant(suite: Path, command: Path) -> None:
        blob = git(suite, "rev-parse", "HEAD~1:guidelines/convex.md")
        (suite / ".git/objects" / blob[:2] / blob[2:]).unlink()
        settings = [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", url),
            *more,
        ]
        by_config(*settings)(suite, command)

    return plant


def by_include(suite: Path, command: Path) -> None:
    write_files(suite, {"evil.config": f'[core]\n\tfsmonitor = {command}\n[filter "evil"]\n\tclean = {command}\n'})
    git(suite, "config", "include.path", "../evil.config")
    (suite / ".git/info").mkdir(exist_ok=True)
    (suite / ".git/info/attributes").write_text("* filter=evil\n")
    os.utime(suite / "guidelines/convex.md", (time.time() + 100,) * 2)


def by_worktree_config(suite: Path, command: Path) -> None:
    git(suite, "config", "extensions.worktreeConfig", "true")
    git(suite, "config", "--worktree", "core.fsmonitor", str(command))


def by_submodule(suite: Path, command: Path) -> None:
    """A repository inside, whose own settings name commands."""
    inner = suite / "inner"
    write_files(inner, {"file.txt": "x"})
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "Inside")
    git(suite, "add", "inner")
    git(suite, "commit", "-q", "-m", "With a submodule")
    git(inner, "config", "core.fsmonitor", str(command))
    git(inner, "config", "filter.evil.clean", str(command))
    (inner / ".git/info/attributes").write_text("* filter=evil\n")
    (inner / "file.txt").write_text("y")


def by_bare_folder(suite: Path, command: Path) -> None:
    """No .git, but a folder that is a bare repository by its looks."""
    (suite / ".git").rename(suite / "kept")
    for path in (suite / "kept").iterdir():
        path.rename(suite / path.name)
    (suite / "kept").rmdir()
    (suite / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {suite}\n\tfsmonitor = {command}\n"
    )


def by_file(suite: Path, command: Path) -> None:
    """A .git that is a file and leads to a folder of the suite."""
    (suite / ".git").rename(suite / "evil")
    (suite / ".git").write_text("gitdir: evil\n")
    git(suite, "config", "core.fsmonitor", str(command))


def by_signature(suite: Path, command: Path) -> None:
    tree, head = git(suite, "rev-parse", "HEAD^{tree}"), git(suite, "rev-parse", "HEAD")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n"
    who = "T <t@example.org> 1790000000 +0000"
    text = f"tree {tree}\nparent {head}\nauthor {who}\ncommitter {who}\n{signature}\nSigned\n"
    made = subprocess.run(
        ["git", "hash-object", "-w", "-t", "commit", "--stdin"], cwd=suite, input=text, capture_output=True, text=True
    ).stdout.strip()
    git(suite, "update-ref", "refs/heads/main", made)
    by_config(("log.showSignature", "true"), ("gpg.program", "PROGRAM"))(suite, command)


PLANTED: dict[str, Callable[[Path, Path], None]] = {
    "fsmonitor": by_config(("core.fsmonitor", "PROGRAM")),
    "fsmonitor, second version": by_config(("core.fsmonitor", "PROGRAM"), ("core.fsmonitorHookVersion", "2")),
    "fsmonitor of an included file": by_include,
    "fsmonitor of the working tree's settings": by_worktree_config,
    "fsmonitor of a submodule": by_submodule,
    "a folder that looks like a repository": by_bare_folder,
    "a file instead of .git": by_file,
    "hooks": by_hooks,
    "hooks elsewhere": by_config(("core.hooksPath", "PROGRAM/..")),
    "a clean filter": by_attribute(("filter.evil.clean", "PROGRAM"), ("filter.evil.required", "true")),
    "a filter process": by_attribute(("filter.evil.process", "PROGRAM"), ("filter.evil.required", "true")),
    "a smudge filter": by_attribute(("filter.evil.smudge", "PROGRAM")),
    "an external diff": by_attribute(("diff.external", "PROGRAM"), ("diff.evil.command", "PROGRAM")),
    "textconv": by_attribute(("diff.evil.textconv", "PROGRAM"), ("diff.evil.cachetextconv", "true")),
    "a merge driver": by_attribute(("merge.evil.driver", "PROGRAM")),
    "a pager": by_config(("core.pager", "PROGRAM"), ("pager.log", "PROGRAM"), ("pager.diff", "PROGRAM")),
    "aliases": by_config(("alias.log", "!PROGRAM"), ("alias.status", "!PROGRAM"), ("alias.rev-parse", "!PROGRAM")),
    "a signature": by_signature,
    "a promise, ext": by_promise("ext::PROGRAM", ("protocol.ext.allow", "always"), ("protocol.allow", "always")),
    "a promise, uploadpack": by_promise("/tmp", ("remote.origin.uploadpack", "PROGRAM")),
    "a promise, ssh": by_promise("ssh://localhost/x", ("core.sshCommand", "PROGRAM")),
    "a promise, proxy": by_promise("git://127.0.0.1:1/x", ("core.gitProxy", "PROGRAM")),
    "a promise, credentials": by_promise("http://127.0.0.1:9/x", ("credential.helper", "!PROGRAM")),
    "an editor": by_config(("core.editor", "PROGRAM"), ("core.askPass", "PROGRAM"), ("sequence.editor", "PROGRAM")),
}
