"""The Node side: strict types, and its own tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from convex_evals.grade.toolchain import SOURCES, Toolchain, locate_toolchain
from tests.conftest import clean_environment

AREAS = ("backend", "checker", "grader", "push", "tester")
FLAGS = ("--experimental-vm-modules", "--disable-warning=ExperimentalWarning")


@pytest.fixture(scope="module")
def node(toolchain: Path) -> Toolchain:
    """The sources in place, with the installed packages linked in and the built parts built."""
    installed = locate_toolchain(toolchain)
    link = SOURCES / "node_modules"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(installed.node_modules)
    run(installed, "build.ts")
    return installed


def run(toolchain: Toolchain, *arguments: str | Path, seconds: float = 120) -> None:
    env = clean_environment(PATH=f"{toolchain.node.bin_dir}:/usr/bin:/bin", NO_COLOR="1")
    argv = [toolchain.node.executable, *arguments]
    done = subprocess.run(argv, cwd=SOURCES, env=env, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]


@pytest.mark.grading
def test_types(node: Toolchain) -> None:
    run(node, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json")


@pytest.mark.grading
def test_types_of_the_suite(node: Toolchain) -> None:
    run(node, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "../../tsconfig.json")


@pytest.mark.grading
@pytest.mark.parametrize("area", AREAS)
def test_area(area: str, node: Toolchain) -> None:
    files = sorted((SOURCES / area).rglob("*.test.ts"))
    assert files, f"{area} has no tests"
    run(node, *FLAGS, "--test", "--test-reporter=spec", *map(str, files), seconds=300)
