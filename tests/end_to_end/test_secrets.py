"""A planted key must not turn up: in no file, no output, no command line or environment of any process of a run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.suite.extract import render_response
from tests.conftest import ROOT, clean_environment
from tests.factories import PACKAGE_JSON, QUERY, make_eval, make_git_repo, write_files
from tests.provider import Provider, serve

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

KEY = "planted-secret-0123456789"
MODELS = """models:
  - {{slug: stub/model, litellm: openai/model, base_url: "{url}", key_env: STUB_KEY}}
  - {{slug: stub/other, litellm: openai/other, base_url: "{url}", key_env: STUB_KEY, api: responses}}
"""


@pytest.fixture
def stub() -> Iterator[Provider]:
    """A provider that quotes the key in its first error, and then answers rightly."""
    reply = render_response({"package.json": PACKAGE_JSON, "convex/main.ts": QUERY})
    with serve(Provider(reply=reply, behave=lambda n, body: "quotes_key" if n < 2 else "ok")) as provider:
        yield provider


def test_a_planted_key_turns_up_nowhere(tmp_path: Path, stub: Provider) -> None:
    suite = tmp_path / "suite"
    make_eval(suite)
    scratch, home = tmp_path / "scratch", tmp_path / "home"
    scratch.mkdir()
    home.mkdir()
    write_files(suite, {"models.yaml": MODELS.format(url=stub.url), ".env": f"STUB_KEY={KEY}\n"})
    write_files(suite, {".gitignore": ".env\n.cache/\n"})
    make_git_repo(suite)
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "there.git"], check=True)
    subprocess.run(["git", "remote", "add", "origin", tmp_path / "there.git"], cwd=suite, check=True)
    who = {f"GIT_{w}_{k}": "t@example.org" for w in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    argv = [sys.executable, str(ROOT / "cli.py"), "run", "-m", "model", "-m", "other", "-e", "no_guidelines", "--push"]
    # Programs that are gone before anybody can look at them.
    programs, shown = tmp_path / "bin", tmp_path / "shown"
    for name in ("git", "uname"):
        tell_environment(programs / name, shown)
    search = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = clean_environment(TMPDIR=str(scratch), HOME=str(home), LITELLM_LOG="DEBUG", PATH=search, **who)
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(argv, cwd=suite, env=environment, stdout=out, stderr=subprocess.STDOUT)
        seen: set[tuple[int, str]] = set()
        while process.poll() is None:
            for pid in family(process.pid):
                for name, text in listed(pid):
                    assert KEY.encode() not in text, f"/proc/{pid}/{name}: {command(pid)}"
                    seen.add((pid, name))
            for path in files(scratch):
                with contextlib.suppress(FileNotFoundError):
                    assert KEY.encode() not in path.read_bytes(), path
    started = shown.read_text()
    assert "STARTED git " in started and "STARTED uname" in started
    assert KEY not in started
    output = (tmp_path / "out").read_text()
    assert process.returncode == 0, output
    assert len({pid for pid, _ in seen}) >= 4, "checker, backend and tester were looked at"
    assert {h.get("Authorization") or h["authorization"] for h in stub.headers} == {f"Bearer {KEY}"}
    assert output.count("pass stub/") == 2 and "[key]" in "".join(p.read_text() for p in suite.rglob("generation.json"))
    for path in files(tmp_path):
        assert path.name == ".env" or KEY.encode() not in path.read_bytes(), path


def tell_environment(program: Path, to: Path) -> None:
    """A program that writes what it was started with to the file `to`, and then is what it stands in for."""
    behind = shutil.which(program.name)
    assert behind
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f'#!/bin/sh\n(echo "STARTED {program.name} $*"; tr "\\0" "\\n" </proc/$$/environ) >>{to}\nexec {behind} "$@"\n'
    )
    program.chmod(0o755)


def family(root: int) -> set[int]:
    """`root` and all that it started, as the process listing knows them."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def listed(pid: int) -> Iterator[tuple[str, bytes]]:
    for name in ("cmdline", "environ"):
        with contextlib.suppress(OSError):
            yield name, Path(f"/proc/{pid}/{name}").read_bytes()


def command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
    return "gone"


def files(folder: Path) -> Iterator[Path]:
    """Regular files below `folder`, packages left out, while others may write there."""
    for directory, names, found in os.walk(folder):
        names[:] = [n for n in names if n != "node_modules"]
        for name in found:
            path = Path(directory) / name
            if path.is_file() and not path.is_symlink():
                yield path
