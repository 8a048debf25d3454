"""Copies of a leaderboard's data, and a publisher whose ledgers are about data that are gone."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.leaderboard.test_serve import cli, serving
from tests.publish.publications import Home, make_home

pytestmark = [pytest.mark.grading, pytest.mark.full]


@pytest.fixture
def home(toolchain: Path, tmp_path: Path) -> Home:
    return make_home(tmp_path, "https://never-asked.convex.cloud")


def texts(home: Home) -> list[str]:
    with serving(home) as served:
        return sorted(run["runId"].split("/")[1] for run in served.runs())


def publish(home: Home) -> str:
    done = cli(home, "publish", "--all", "--to", "local")
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_data_are_backed_up_and_restored(home: Home, tmp_path: Path) -> None:
    data, target = home.folder / ".leaderboard", home.folder / "backup.zip"
    assert "has no data" in cli(home, "leaderboard", "backup", str(target)).stderr and not target.exists()
    home.add_run("default-00000001")
    publish(home)
    token = (data / "token").read_text()
    with serving(home):
        assert "another process serves it" in cli(home, "leaderboard", "backup", str(target)).stderr
    done = cli(home, "leaderboard", "backup", str(target))
    assert done.returncode == 0 and done.stdout.startswith(f"Written: {target}, with "), done.stderr
    assert target.stat().st_mode & 0o077 == 0
    assert "is there already" in cli(home, "leaderboard", "backup", str(target)).stderr
    home.add_run("default-00000002")
    publish(home)
    assert texts(home) == ["default-00000001", "default-00000002"]
    restored = json.loads(cli(home, "leaderboard", "restore", str(target), "--json").stdout)
    kept = Path(restored["kept"])
    assert kept.parent == home.folder and (kept / "token").read_text() == token
    assert texts(home) == ["default-00000001"] and (data / "token").read_text() == token
    # The ledgers are those of the backup: what it has not is sent again, and nothing twice.
    assert "1 sent" in publish(home)
    assert texts(home) == ["default-00000001", "default-00000002"]
    shutil.rmtree(data)
    assert json.loads(cli(home, "leaderboard", "restore", str(target), "--json").stdout)["kept"] is None
    assert texts(home) == ["default-00000001"]


@pytest.mark.parametrize("content", [None, b"", b"PK\x05\x06" + bytes(18), "../token", "other.txt"])
def test_what_is_no_backup_changes_nothing(home: Home, content: bytes | str | None) -> None:
    archive, data = home.folder / "backup.zip", home.folder / ".leaderboard"
    if isinstance(content, bytes):
        archive.write_bytes(content)
    elif content is not None:
        with zipfile.ZipFile(archive, "w") as out:
            out.writestr("log-00000000", b"")
            out.writestr(content, b"")
    data.mkdir()
    (data / "log-00000000").write_bytes(b"mine")
    done = cli(home, "leaderboard", "restore", str(archive))
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and str(archive) in done.stderr, done.stderr
    assert (data / "log-00000000").read_bytes() == b"mine"
    assert sorted(path.name for path in home.folder.glob(".leaderboard*")) == [".leaderboard"]


def test_a_publisher_notices_that_the_data_are_gone(home: Home) -> None:
    home.add_run("default-00000001")
    assert "1 sent" in publish(home)
    assert "published already" in publish(home)
    data = home.folder / ".leaderboard"
    for path in data.iterdir():
        if path.name.startswith(("log-", "snapshot-")):
            path.unlink()
    said = publish(home)
    assert "warning: " in said and "what was published to it before is no longer there" in said and "1 sent" in said
    assert texts(home) == ["default-00000001"]
