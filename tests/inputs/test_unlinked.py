"""Folders below a folder are opened by one system call or step by step: both open the same, and refuse the same."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import convex_evals.inputs.unlinked as unlinked
from convex_evals.inputs.unlinked import open_below, open_folder

pytestmark = pytest.mark.skipif(not unlinked.HAS_OPEN_FOLDERS, reason="no open folders here")
NAMES = ("folder", "link", "file", "out", "missing", "loop", "nothing")
Found = tuple[int, int] | int | None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two folders deep, with everything in each that may be in the way."""
    (tmp_path / "outside" / "folder").mkdir(parents=True)
    place = tmp_path / "root"
    place.mkdir()
    for _ in range(3):
        (place / "file").touch()
        (place / "out").symlink_to(tmp_path / "outside")
        (place / "link").symlink_to("folder")
        (place / "nothing").symlink_to("missing")
        (place / "loop").symlink_to("loop")
        place = place / "folder"
        place.mkdir()
    return tmp_path / "root"


def _found(opened: Callable[[Path, Sequence[str]], int], root: Path, parts: list[str]) -> Found:
    """Which folder was opened, or the number of the error; None for a name that no file can have."""
    try:
        fd = opened(root, parts)
    except OSError as error:
        return error.errno
    except ValueError:
        return None
    try:
        status = os.fstat(fd)
        return status.st_dev, status.st_ino
    finally:
        os.close(fd)


def descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


@given(st.lists(st.sampled_from(NAMES) | st.text("ab\0\udc80\ud800.", min_size=1, max_size=3), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_both_ways_open_the_same(root: Path, parts: list[str]) -> None:
    parts = [part for part in parts if part not in (".", "..")]
    before = descriptors()
    for opened in (open_folder, open_below):
        at_once = _found(opened, root, parts)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(unlinked, "_system_call", lambda: None)
            assert _found(opened, root, parts) == at_once
        if any(part in ("link", "out", "nothing", "loop") for part in parts):
            assert isinstance(at_once, int) or at_once is None
    assert descriptors() == before


@pytest.mark.parametrize("failure", [errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL, errno.EAGAIN, errno.EINTR])
def test_a_kernel_that_refuses_leaves_it_to_the_steps(
    failure: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unlinked, "_system_call", lambda: lambda *_: (-1, failure))
    wanted = (root / "folder" / "folder").stat()
    assert _found(open_folder, root, ["folder", "folder"]) == (wanted.st_dev, wanted.st_ino)
    assert _found(open_folder, root, ["folder", "link"]) in (errno.ELOOP, errno.ENOTDIR)


def test_nothing_leads_out_of_the_folder(root: Path) -> None:
    """Callers refuse these before; the kernel would, too, but it is the steps that are asked for the reason."""
    call = unlinked._system_call()
    if call is None:
        pytest.skip("no such system call")
    at = os.open(root, unlinked.FOLDER)
    try:
        for path in (b"../outside", b"folder/../../outside", b"out/folder", b"link/folder", os.fsencode(root)):
            found, failure = call(unlinked._OPENAT2, at, path, unlinked._FOLDER_BELOW, len(unlinked._FOLDER_BELOW))
            assert found < 0 and failure in (errno.EXDEV, errno.ELOOP, errno.ENOTDIR, errno.ENOSYS, errno.EPERM)
    finally:
        os.close(at)
