"""A tag becomes a release: release.yml as it stands, with PyPI, attestations and GitHub's releases as folders."""

from __future__ import annotations

import hashlib
import json
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.end_to_end.repositories import commit_staged, git
from tests.workflows.actions import ActionFailed, only
from tests.workflows.hub import Hub, hosting
from tests.workflows.job import JobRun
from tests.workflows.records import FAILURE, SKIPPED, SUCCESS
from tests.workflows.runner import WorkflowRun, run_workflow

pytestmark = pytest.mark.full
RELEASE = ROOT / ".github" / "workflows" / "release.yml"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
PACKAGES = {f"convex_evals-{VERSION}-py3-none-any.whl", f"convex_evals-{VERSION}.tar.gz"}
GUIDELINES, LEADERBOARD = (f"convex-evals-{what}-{VERSION}.tar.gz" for what in ("guidelines", "leaderboard"))
INSTALLED = metadata.distribution("click").locate_file("")
FILES = {*PACKAGES, GUIDELINES, LEADERBOARD, "SHA256SUMS"}

# What the lock names is what these tests run with; all else that the workflow asks of pip is done.
PIP = f"""#!/bin/sh
case "$*" in
  "--python "*requirements.lock)
    echo '{INSTALLED}' > "$(echo "$2"/lib/python3*/site-packages)/locked.pth" ;;
  *requirements.lock) ;;
  *) exec '{sys.executable}' -m pip "$@" ;;
esac
"""
# Releases are folders of files, and drafts have a file more. At first, the connection is lost while files are uploaded.
GH = """#!/bin/sh
set -eu
grep -q "\\"$GH_TOKEN\\": {{\\"contents\\": \\"write\\"}}" '{hub}/tokens.json'
release='{hub}/releases'/$3
case "$1 $2 ${{4:-}}" in
  "release view ") test -d "$release" ;;
  "release create --verify-tag")
    git --git-dir='{hub}/repositories'/"$GH_REPO" rev-parse -q --verify "refs/tags/$3"
    test "$5" = --generate-notes
    mkdir -p "$release"
    touch "$release/DRAFT"
    cp "$6" "$release"
    echo 'connection reset by peer'
    exit 1 ;;
  "release upload --clobber")
    shift 4
    cp "$@" "$release" ;;
  "release edit --draft=false") rm "$release/DRAFT" ;;
  *) exit 2 ;;
esac
"""


@dataclass
class Services:
    """What the actions of others do with the files that they are given."""

    attested: dict[str, str] = field(default_factory=dict)  # SHA-256 by name
    published: dict[str, bytes] = field(default_factory=dict)
    outages: int = 1  # of PyPI, before it answers

    def attest(self, job: JobRun, inputs: dict[str, str]) -> dict[str, Any]:
        only(inputs, "subject-path")
        if job.rights != {"id-token": "write", "attestations": "write"}:
            raise ActionFailed("needs the rights to sign and to store")
        files = job.workspace.glob(inputs["subject-path"])
        self.attested = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        return {}

    def publish(self, job: JobRun, inputs: dict[str, str]) -> dict[str, Any]:
        only(inputs)
        if job.rights != {"id-token": "write"} or job.job.environment != "pypi":
            raise ActionFailed("not a trusted publisher")
        if self.outages:
            self.outages -= 1
            raise ActionFailed("503 Service Unavailable")
        if self.published:
            raise ActionFailed("400 File already exists")
        self.published = {path.name: path.read_bytes() for path in (job.workspace / "dist").iterdir()}
        return {}


@pytest.fixture(scope="module")
def services() -> Services:
    return Services()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return commit_staged(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def hub(source: Path, services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    actions = {"actions/attest-build-provenance": services.attest, "pypa/gh-action-pypi-publish": services.publish}
    folder = tmp_path_factory.mktemp("release") / "hub"
    shims = {"pip": PIP, "gh": GH.format(hub=folder)}
    with hosting(folder, source, shims=shims, actions=actions) as hub:
        yield hub


@pytest.fixture(scope="module")
def attempts(hub: Hub, source: Path) -> list[WorkflowRun]:
    """The tag is pushed, and failed jobs are run again, twice."""
    first = run_workflow(hub, RELEASE, hub.tagged(source, f"v{VERSION}"))
    second = first.rerun_failed()
    return [first, second, second.rerun_failed()]


@pytest.fixture(scope="module")
def released(attempts: list[WorkflowRun]) -> WorkflowRun:
    return attempts[-1]


def assets(hub: Hub) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (hub.folder / "releases" / f"v{VERSION}").iterdir()}


def test_a_release_is_resumed_where_it_failed(attempts: list[WorkflowRun], hub: Hub) -> None:
    ended = [list(run.results.values()) for run in attempts]
    assert attempts[0].results.keys() == {"build", "attest", "publish", "release"}
    assert ended[0] == [SUCCESS, SUCCESS, FAILURE, SKIPPED], attempts[0].report()
    assert ended[1] == [SUCCESS, SUCCESS, SUCCESS, FAILURE], attempts[1].report()
    assert ended[2] == [SUCCESS] * 4, attempts[2].report()
    assert assets(hub).keys() == FILES


def test_what_is_published_is_what_was_tried_and_attested(
    released: WorkflowRun, hub: Hub, services: Services, tmp_path: Path
) -> None:
    files = assets(hub)
    assert services.published == {name: files[name] for name in PACKAGES}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert services.attested == digests
    sums = [f"{digest}  {name}" for name, digest in sorted(digests.items()) if name != "SHA256SUMS"]
    assert sorted(files["SHA256SUMS"].decode().splitlines(), key=lambda line: line.split()[1]) == sums
    assert digests[GUIDELINES] in released.summary
    tried = released.job("build").step("try the wheel").output
    assert "000-fundamentals/000-greeting" in tried and "No broken requirements found." in tried


def test_only_the_jobs_without_our_code_may_do_something(released: WorkflowRun) -> None:
    jobs = {path: released.job(path) for path in ("build", "attest", "publish", "release")}
    assert jobs["build"].rights == {"contents": "read"} and not jobs["build"].secrets
    assert not any((record.workspace / ".git").exists() for path, record in jobs.items() if path != "build")
    assert not (jobs["publish"].workspace / GUIDELINES).exists()


def test_what_is_in_the_files(released: WorkflowRun, hub: Hub, tmp_path: Path) -> None:
    for name, content in assets(hub).items():
        (tmp_path / name).write_bytes(content)
    with zipfile.ZipFile(tmp_path / f"convex_evals-{VERSION}-py3-none-any.whl") as wheel:
        assert {"convex_evals/__main__.py", "convex_evals/site/assets/pages.js"} <= set(wheel.namelist())
        assert "convex_evals/leaderboard_app/convex/schema.ts" in wheel.namelist()
        origin = json.loads(wheel.read("convex_evals/origin.json"))
    assert (origin["commit"], origin["tag"]) == (git(hub.repository, "rev-parse", f"v{VERSION}"), f"v{VERSION}")
    with tarfile.open(tmp_path / GUIDELINES) as archive:
        archive.extractall(tmp_path / "guidelines", filter="data")
    built = [path.relative_to(tmp_path / "guidelines") for path in (tmp_path / "guidelines").rglob("*.m*")]
    assert Path("AGENTS.md") in built and Path(".cursor/rules/convex_rules.mdc") in built
    for path in built:
        assert (tmp_path / "guidelines" / path).read_bytes() == (ROOT / "guidelines" / "dist" / path).read_bytes()
    with tarfile.open(tmp_path / LEADERBOARD) as archive:
        names = set(archive.getnames())
    assert {"LICENSE", "leaderboard/package-lock.json", "leaderboard/convex/schema.ts"} <= names
    assert not any("node_modules" in name or "_generated" in name for name in names)


def test_a_version_is_published_once(released: WorkflowRun, hub: Hub, source: Path, services: Services) -> None:
    """All of it run again gives the same bytes, and changes nothing."""
    before, attested = assets(hub), dict(services.attested)
    services.attested = {}
    again = run_workflow(hub, RELEASE, hub.tagged(source, f"v{VERSION}"))
    assert again.results["publish"] == FAILURE and "400 File already exists" in again.report()
    assert services.attested == attested
    assert again.results["release"] == SKIPPED and assets(hub) == before


def test_another_tag_is_refused(hub: Hub, source: Path, services: Services) -> None:
    before = dict(services.published)
    run = run_workflow(hub, RELEASE, hub.tagged(source, "v99.0.0"))
    assert run.results == {"build": FAILURE, "attest": SKIPPED, "publish": SKIPPED, "release": SKIPPED}
    assert f"::error::the tag is v99.0.0, but the version in pyproject.toml is {VERSION}" in run.report()
    assert services.published == before
    assert not (hub.folder / "releases" / "v99.0.0").exists()
