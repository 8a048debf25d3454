"""What is locked is what is asked for, and what proposes newer versions knows of all of it."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tests.repository.test_workflows import OURS, STARTER


def committed(pattern: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(line) for line in done.stdout.splitlines()]


LOCKFILES = committed("*package-lock.json")


def test_the_lock_has_what_the_package_asks_for() -> None:
    """And what builds it, for releases as for tests of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    build = [text for text in project["optional-dependencies"]["dev"] if text.startswith("hatchling==")]
    wanted = [*project["dependencies"], *build]
    lock = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    unmet = [text for text in wanted if not Requirement(text).specifier.contains(lock.get(Requirement(text).name, "0"))]
    assert build and unmet == [], "make requirements.lock with the command in CONTRIBUTING.md"


@pytest.mark.parametrize("lockfile", LOCKFILES, ids=lambda path: path.parent.name)
def test_a_lockfile_has_hashes_and_names_no_registry(lockfile: Path) -> None:
    folder = ROOT / lockfile.parent
    packages = json.loads((ROOT / lockfile).read_text())["packages"]
    wanted = json.loads((folder / "package.json").read_text())
    assert {key: packages[""].get(key) for key in ("dependencies", "devDependencies")} == {
        key: wanted.get(key) for key in ("dependencies", "devDependencies")
    }
    assert all("resolved" not in entry and (not path or "integrity" in entry) for path, entry in packages.items())
    assert "omit-lockfile-registry-resolved=true" in (folder / ".npmrc").read_text().splitlines()


def test_dependabot_knows_every_place() -> None:
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
    places = {entry["package-ecosystem"]: entry.get("directories") or [entry["directory"]] for entry in updates}
    assert places == {
        "github-actions": ["/", f"/{STARTER.relative_to(ROOT)}"],
        "pip": ["/", "/tests/consumers"],
        "npm": sorted(f"/{lockfile.parent}" for lockfile in LOCKFILES),
    }
    assert OURS == ROOT / ".github" / "workflows", "what / stands for"
