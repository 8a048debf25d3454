"""What executes a pull request reaches no secret and writes nothing; what others named is never a part of a script."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from convex_evals.models.catalog import shipped_models
from convex_evals.models.keys import KEYS
from convex_evals.suite.starter import FILES
from tests.conftest import ROOT

OURS = ROOT / ".github" / "workflows"
STARTER = FILES / "dot-github" / "workflows"
ALL = sorted([*OURS.glob("*.yml"), *STARTER.glob("*.yml")])


Job = dict[str, Any]


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    return found


def name(path: Path) -> str:
    return f"starter {path.stem}" if path.is_relative_to(STARTER) else path.stem


def jobs(path: Path) -> Iterator[Job]:
    """Those with steps; others call a workflow."""
    yield from (job for job in load(path)["jobs"].values() if "steps" in job)


def steps(path: Path) -> Iterator[tuple[Job, dict[str, Any]]]:
    yield from ((job, step) for job in jobs(path) for step in job["steps"])


def reached(path: Path) -> set[Path]:
    """A workflow and those that it calls."""
    uses = [job["uses"] for job in load(path)["jobs"].values() if "uses" in job]
    return {path}.union(*(reached(path.parent / Path(called).name) for called in uses))


PULLED = sorted(set().union(*(reached(path) for path in ALL if "pull_request" in load(path)["on"])))


def executes_a_pull_request(job: Job) -> bool:
    """Whether a script runs in a checkout of anything but the base branch. Elsewhere, what is checked out is read."""
    default = job.get("defaults", {}).get("run", {}).get("working-directory", ".")
    places = {step.get("working-directory", default).partition("/")[0] for step in job["steps"] if "run" in step}
    checkouts = [step.get("with", {}) for step in job["steps"] if "checkout" in step.get("uses", "")]
    return any(c.get("path", ".") in places and c.get("ref") != "${{ github.base_ref }}" for c in checkouts)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_a_workflow_gives_strangers_nothing(path: Path) -> None:
    workflow = load(path)
    assert not {"pull_request_target", "workflow_run", "issue_comment", "issues"} & set(workflow["on"])
    assert workflow["permissions"] == {}, "a job has what it asks for"
    assert "secrets." not in str(workflow.get("env")), "a step has what it asks for"
    for _, step in steps(path):
        assert "${{" not in step.get("run", ""), "values come by variables, which no shell parses"


@pytest.mark.parametrize("path", PULLED, ids=name)
def test_the_code_of_a_pull_request_reaches_nothing(path: Path) -> None:
    executing = [job for job in jobs(path) if executes_a_pull_request(job)]
    for job in executing:
        assert "write" not in job["permissions"].values() and "secrets." not in str(job)
        assert "github.token" not in str(job)
        checkouts = [step for step in job["steps"] if "checkout" in step.get("uses", "")]
        assert all(step["with"]["persist-credentials"] == "false" for step in checkouts)


def test_which_jobs_execute_a_pull_request() -> None:
    """So that the rule above is not about none."""
    executing = {
        f"{name(path)}: {job}"
        for path in PULLED
        for job, data in load(path)["jobs"].items()
        if "steps" in data and executes_a_pull_request(data)
    }
    ours = {"pr: check", "pr: validate", "guidelines-comment: diff"}
    assert executing == ours | {"starter pr: validate", "starter guidelines-comment: diff"}


@pytest.mark.parametrize("path", sorted(OURS.glob("*.yml")), ids=name)
def test_what_is_installed_beside_a_right_to_write_has_a_hash(path: Path) -> None:
    """The build backend included: by itself, pip fetches whichever version is newest."""
    for job, step in steps(path):
        rights = job["permissions"].values()
        for command in re.findall(r"pip install [^&|;\n]+", step.get("run", "")) if "write" in rights else ():
            words = set(command.split())
            assert "--require-hashes" in words or words >= {"--no-deps", "--no-build-isolation"}, command


@pytest.mark.parametrize("path", ALL, ids=name)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    """A tag may be moved to another commit. The version beside it is for readers, and for Dependabot."""
    used = re.findall(r"\buses: +(?!\./)(\S.*)", path.read_text())
    assert [line for line in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


@pytest.mark.parametrize("path", ALL, ids=name)
def test_a_token_stays_in_the_checkout_only_to_push(path: Path) -> None:
    for job, step in steps(path):
        if "checkout" in step.get("uses", ""):
            pushes = any(" --push" in other.get("run", "") for other in job["steps"])
            assert pushes or step["with"]["persist-credentials"] == "false"


def test_the_lock_has_what_builds_this_package() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    lock = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(lock.get(requirement.name, "0")), f"{requirement}: see CONTRIBUTING.md"
    assert "editables" in lock, "for `pip install -e .`"


def test_secrets_are_for_one_step() -> None:
    """Of the jobs that ask models, publish and deploy: not for the steps that install."""
    uses = re.compile(r"cli run |cli -C \.\./suite validate-guidelines |cli publish |npx convex ")
    for path in ALL:
        holders = [step for _, step in steps(path) if "secrets." in str(step)]
        assert all(uses.search(step["run"]) and "install" not in step["run"] for step in holders)


@pytest.mark.parametrize("folder", [OURS, STARTER], ids=["ours", "starter"])
def test_models_are_asked_with_every_key_that_ships(folder: Path) -> None:
    wanted = {KEYS[entry.provider][0] for entry in shipped_models()}
    asking = [path for path in folder.glob("*.yml") if re.search(r"secrets\.\w+_API_KEY", path.read_text())]
    assert len(asking) >= 3
    for path in asking:
        found = set(re.findall(r"(\w+_API_KEY): \$\{\{ secrets\.(\w+) \}\}", path.read_text()))
        assert found == {(key, key) for key in wanted}, path


def twin(text: str) -> str:
    """A workflow of ours as a new repository has it: it installs the tool, of the version in requirements.txt."""
    changes = {
        r"pip install --require-hashes .* -e \.$": "pip install -r requirements.txt",
        r"hashFiles\('requirements\.lock', .*?\)": "hashFiles('requirements.txt')",
        r"requirements\.lock": "requirements.txt",
        r'"convex_evals/\*\*"': '"requirements.txt"',
        # The tests of the tool.
        r"^  check:\n(?:    .*\n|\n)*(?=  \S)": "",
    }
    for ours, theirs in changes.items():
        text = re.sub(ours, theirs, text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("path", sorted(STARTER.glob("*.yml")), ids=name)
def test_a_new_repository_gets_the_same_workflows(path: Path) -> None:
    assert path.read_text() == twin((OURS / path.name).read_text())


@pytest.mark.parametrize("path", ALL, ids=name)
def test_what_a_workflow_calls_is_there_and_can_be_called(path: Path) -> None:
    assert all("workflow_call" in load(called)["on"] for called in reached(path) - {path})
