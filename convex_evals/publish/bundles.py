"""Zip files of projects: the same bytes for the same files, whenever they are made."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from convex_evals.errors import UserError
from convex_evals.suite.extract import files_problem, path_problem
from convex_evals.suite.suite import GENERATED, TASK_NAME
from convex_evals.vcs.git import Checkout
from convex_evals.vcs.git_command import GitFailed

_LEFT_OUT = frozenset({"node_modules", GENERATED})
_BEGINNING = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold


@dataclass(frozen=True)
class EvalSource:
    """The folder of an eval as it was committed."""

    task: str | None
    digest: str  # MD5 of paths and contents, by which the deployment knows it
    zipped: bytes = field(repr=False)


def zip_files(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, _BEGINNING)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def zip_reply(files: Mapping[str, str]) -> bytes | None:
    """The files of a reply; None where there are none that can be written to a folder."""
    kept = {path: text for path, text in files.items() if path_problem(path) is None and not _is_left_out(path)}
    if files_problem(kept) is not None:
        return None
    return zip_files({path: text.encode("utf-8", "replace") for path, text in kept.items()})


def read_source(suite: Checkout, commit: str, eval_id: str) -> EvalSource:
    """Raises `UserError` where the commit is not here, or has no such eval."""
    folder = f"evals/{eval_id}"
    inside = suite.inside(folder)
    try:
        files = {} if inside is None else suite.files(commit, inside)
    except GitFailed as error:
        raise UserError(f"{folder}@{commit[:12]}: {str(error).partition(chr(10))[0]}; `git fetch` the commit") from None
    kept = {path: data for path, data in files.items() if not _is_left_out(path)}
    if not kept:
        raise UserError(f"{folder}@{commit[:12]}: nothing is there; the run's suite_commit is of another suite")
    digest = hashlib.md5(usedforsecurity=False)
    for path, data in sorted(kept.items()):
        name = f"{folder}/{path}".encode()
        digest.update(b"%d:%s%d:%s" % (len(name), name, len(data), data))
    task = kept.get(TASK_NAME)
    return EvalSource(
        task.decode("utf-8", "replace").replace("\r\n", "\n") if task is not None else None,
        digest.hexdigest(),
        zip_files(kept),
    )


def _is_left_out(path: str) -> bool:
    return not _LEFT_OUT.isdisjoint(PurePosixPath(path).parts)


def open_suite(folder: Path) -> Checkout:
    """Raises `UserError` where it is in no repository."""
    from convex_evals.vcs.git import open_checkout

    return open_checkout(folder, "there are no sources to publish")
