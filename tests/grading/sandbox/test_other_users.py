"""Other users of the machine: what they leave in shared folders, and what they can reach."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.backends.embedded import EmbeddedBackend
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.scratch import scratch_folder
from convex_evals.grading.toolchain import ensure_toolchain, locate_toolchain
from tests.end_to_end.test_attacks import missing

NAME, LOCK = "convex-evals-planted", "in-use.lock"
# Of the process that looks: what it is told to read, list or connect to, and gets.
LOOK = """
import os, socket, sys
folder, control, port = sys.argv[1:]
def tries(what, do):
    try: print(what, do())
    except OSError as error: pass
tries("listed", lambda: os.listdir(folder))
tries("read", lambda: open(os.path.join(folder, "in-use.lock")).read())
tries("socket", lambda: socket.socket(socket.AF_UNIX).connect(control))
tries("port", lambda: socket.create_connection(("127.0.0.1", int(port)), 2))
tries("planted", lambda: os.symlink("/etc", os.path.join(folder, "planted")))
"""


def a_link_for_a_lock(folder: Path, outside: Path) -> None:
    folder.mkdir()
    (folder / LOCK).symlink_to(outside / "file.txt")


def a_pipe_for_a_lock(folder: Path, outside: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / LOCK)


def a_link_for_a_folder(folder: Path, outside: Path) -> None:
    (outside / LOCK).touch()
    folder.symlink_to(outside, target_is_directory=True)


def a_folder_that_others_may_write_to(folder: Path, outside: Path) -> None:
    folder.mkdir()
    (folder / LOCK).touch()
    folder.chmod(0o777)


@pytest.mark.parametrize(
    "plant", [a_link_for_a_lock, a_pipe_for_a_lock, a_link_for_a_folder, a_folder_that_others_may_write_to]
)
def test_what_others_leave_in_tmp_is_left_alone(
    plant: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTPUT_TEMPDIR", str(tmp_path))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("kept")
    plant(tmp_path / NAME, outside)
    before = sorted(path.name for path in (tmp_path / NAME).iterdir())
    with scratch_folder() as folder:
        assert folder.name != NAME
    assert sorted(path.name for path in (tmp_path / NAME).iterdir()) == before
    assert (outside / "file.txt").read_text() == "kept"


@pytest.mark.parametrize("is_ours", [True, False])
def test_only_folders_of_this_user_are_removed(is_ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTPUT_TEMPDIR", str(tmp_path))
    (tmp_path / NAME).mkdir(mode=0o700)
    (tmp_path / NAME / LOCK).touch()
    if not is_ours:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with scratch_folder():
        pass
    assert (tmp_path / NAME).exists() is not is_ours


def test_what_a_killed_removal_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its lock, a folder is removed if it is empty: it may be another program's."""
    monkeypatch.setenv("OUTPUT_TEMPDIR", str(tmp_path))
    empty, full = tmp_path / NAME, tmp_path / f"{NAME}-2"
    empty.mkdir(mode=0o700)
    full.mkdir(mode=0o700)
    (full / "file").touch()
    with scratch_folder():
        pass
    assert not empty.exists() and (full / "file").exists()


def test_scratch_folders_are_closed_and_have_names_that_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTPUT_TEMPDIR", str(tmp_path))
    before = os.umask(0)
    try:
        with scratch_folder() as one, scratch_folder() as other:
            assert one != other
            assert {stat.S_IMODE(folder.stat().st_mode) for folder in (one, other)} == {0o700}
    finally:
        os.umask(before)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_cache_that_others_may_write_to_is_refused(mode: int, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(mode)
    with pytest.raises(UserError, match=r"every user of this machine may write there.* chmod o-w"):
        asyncio.run(ensure_toolchain(cache, lambda *_: None))
    assert list(cache.iterdir()) == []


def test_a_cache_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    cache = tmp_path / "cache"
    cache.mkdir()
    if cache.stat().st_uid == 0:
        os.chown(cache, 54_322, 54_322)
    with pytest.raises(UserError, match="belongs to another user"):
        asyncio.run(ensure_toolchain(cache, lambda *_: None))


@pytest.mark.full
@pytest.mark.grading
def test_nobody_else_reaches_a_trial(toolchain: Path) -> None:
    if reason := missing(Level.STRICT):
        pytest.skip(reason)
    if os.getuid() != 0:
        pytest.skip("becoming another user takes root")

    def look(words: list[str], **user: Any) -> str:
        argv = [shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable, "-c", LOOK, *words]
        seen = subprocess.run(argv, capture_output=True, text=True, cwd="/", check=False, **user)
        return str(seen.stdout + seen.stderr)

    async def run() -> tuple[str, str]:
        tools = locate_toolchain(toolchain)
        with scratch_folder() as folder:
            async with open_sandbox(Level.STRICT, tools, folder) as sandbox, sandbox.network() as network:
                scratch = Path(tempfile.mkdtemp(dir=folder))
                async with EmbeddedBackend(tools, sandbox).start(scratch, network) as endpoints:
                    words = [str(folder), str(endpoints.control), str(endpoints.port)]
                    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
                    return await asyncio.to_thread(look, words, **nobody), await asyncio.to_thread(look, words)

    others, ours = asyncio.run(run())
    assert others == ""
    assert [line.split()[0] for line in ours.splitlines()] == ["listed", "read", "socket", "planted"]
