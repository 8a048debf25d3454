"""A suite that was written for another tool grades here unmodified, and stays as it is."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, clean_environment

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

CHECKOUT = ROOT / "tests" / "checkout"
ANSWERS = [
    "000-fundamentals/000-notes",
    "000-fundamentals/001-glossary",
    "001-components/000-rate_limit",
    "001-components/001-local_counter",
    "002-actions/000-webhook",
    "003-clients/000-react_notes",
    "003-clients/001-untyped_client",
    "004-testing/000-own_tests",
    "005-packages/000-external",
]
# As much of the package as the graders need, laid out as pnpm does: a link to a folder beside it.
OWN_SLUGIFY = r"""
module.exports = (text, options) =>
  text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/ +/g, "-")[options.lower ? "toLowerCase" : "trim"]();
"""
OWN_SLUGIFY_TYPES = """declare function slugify(text: string, options: { lower: boolean; strict: boolean }): string;
export = slugify;
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, folder)
    yield folder
    _set_writable(folder, True)


def _validate(folder: Path, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    argv = [sys.executable, str(ROOT / "cli.py"), "-C", str(folder), "validate", "--no-foils", "--json", *arguments]
    # A working folder elsewhere: what the command writes there is not the checkout's business.
    cwd = folder.parent / "cwd"
    cwd.mkdir()
    done = subprocess.run(argv, cwd=cwd, env=clean_environment(), capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)["projects"] if done.stdout else [], done.stderr


def _state(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Of every file and folder: mode, time of modification, and for a file the hash of its bytes."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[path.relative_to(folder).as_posix()] = (status.st_mode, status.st_mtime_ns, content)
    return found


def _set_writable(folder: Path, writable: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | stat.S_IWUSR if writable else mode & ~0o222)


def _unexpected(results: list[dict[str, Any]]) -> list[str]:
    return [f"{r['eval']} {r['project']}: {r['caught_by']}: {r['reason']}" for r in results if not r["as_expected"]]


def test_every_answer_passes_and_a_read_only_checkout_stays_as_it_is(checkout: Path) -> None:
    _set_writable(checkout, False)
    before = _state(checkout)
    status, results, stderr = _validate(checkout, "-p", ".")
    assert _unexpected(results) == []
    assert status == 0, stderr
    assert sorted(r["eval"] for r in results if r["project"] == "answer") == ANSWERS
    own = [r for r in results if r["project"] != "answer" and not r["project"].startswith("foil/")]
    others = {r["project"]: r["caught_by"] for r in own}
    assert others == {"wrong/public-pin": "tests", "wrong/bundled": "tests", "accept/first-instead-of-unique": None}
    assert _state(checkout) == before


def test_packages_of_the_checkouts_own_node_modules_come_first(checkout: Path) -> None:
    package = checkout / "node_modules" / ".pnpm" / "slugify@1.6.9" / "node_modules" / "slugify"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "slugify", "version": "1.6.9", "main": "slugify.js"}')
    (package / "slugify.js").write_text(OWN_SLUGIFY)
    (package / "slugify.d.ts").write_text(OWN_SLUGIFY_TYPES)
    (checkout / "node_modules" / "slugify").symlink_to(package.relative_to(checkout / "node_modules"))
    before = _state(checkout)
    status, results, stderr = _validate(checkout, "-f", "000-notes", "--no-wrong")
    assert _unexpected(results) == []
    assert status == 0, stderr
    assert _state(checkout) == before


def test_crlf_line_ends_change_nothing(checkout: Path) -> None:
    for path in checkout.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = _state(checkout)
    status, results, stderr = _validate(checkout, "-f", "webhook|own_tests", "-p", ".")
    assert _unexpected(results) == []
    assert status == 0, stderr
    assert {r["eval"] for r in results} == {ANSWERS[4], ANSWERS[7]}
    assert _state(checkout) == before


def test_a_package_that_nobody_has_is_named(checkout: Path) -> None:
    manifest = checkout / "package.json"
    data = json.loads(manifest.read_text())
    del data["dependencies"]["slugify"]
    manifest.write_text(json.dumps(data))
    status, results, _ = _validate(checkout, "-f", "glossary")
    assert status == 4
    assert "slugify" in results[0]["reason"]
