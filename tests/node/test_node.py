"""The Node side: strict types, lint, format, and its own tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from convex_evals.grading.toolchain import SOURCES, Toolchain, locate_toolchain
from convex_evals.runs.grading_rules import library_sources
from tests import patience, tier
from tests.conftest import clean_environment

AREAS = ("backend/test", "backend/conformance", "backend/clients", "checker", "grader", "push", "test", "tester")
QUICK = ("backend/conformance", "test")
FLAGS = ("--experimental-vm-modules", "--disable-warning=ExperimentalWarning")


@pytest.fixture(scope="module")
def node(toolchain: Path, tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """The sources in place, with the installed packages linked in and the built parts built: once for all workers."""
    installed = locate_toolchain(toolchain)
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with FileLock(shared / "node.lock"):
        if not (shared / "node.built").exists():
            link = SOURCES / "node_modules"
            if link.is_symlink():
                link.unlink()
            link.symlink_to(installed.node_modules)
            run(installed, "build.ts")
            (shared / "node.built").touch()
    return installed


def run(toolchain: Toolchain, *arguments: str | Path, seconds: float = 120, soak: bool = False) -> str:
    more = {"SOAK": "1"} if soak else {}
    if not soak:  # a part of the conformance table, another for each commit
        more |= {"ROWS_EVERY": "2" if tier.is_full else "4", "FIRST_ROW": str(tier.seed())}
    # What build.ts makes is what graded projects meet, and hundreds of backends start faster with it.
    for name in ("runtime", "isolate"):
        built = SOURCES / "backend" / "app" / f"{name}.bundle.cjs"
        if built.exists():
            more[f"BACKEND_{name.upper()}"] = str(built)
    env = clean_environment(PATH=f"{toolchain.node.bin_dir}:/usr/bin:/bin", NO_COLOR="1", **more)
    argv = [toolchain.node.executable, *arguments]
    done = subprocess.run(argv, cwd=SOURCES, env=env, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, (reported_failures(done.stdout) + done.stderr)[:8000]
    return done.stdout


def reported_failures(output: str) -> str:
    """What went wrong, without the hundreds of tests that passed: a log that is cut must not lose it.

    A process that crashed is listed without a reason; its last words stand between the tests.
    """
    before, _, failures = output.partition("✖ failing tests:")
    others = [line for line in before.splitlines() if not line.lstrip().startswith(("✔", "▶", "ℹ"))]
    return "\n".join([failures, *others])


@pytest.mark.full
@pytest.mark.grading
def test_what_is_built_has_no_part_in_a_graders_fingerprint(node: Toolchain) -> None:
    assert list(node.script("grader").glob("*.bundle.*.code"))
    sources = {path.name for path in (SOURCES / "grader").glob("*.ts") if not path.name.endswith(".test.ts")}
    assert {path for path in library_sources(node.script("grader")) if "/" not in path} == sources


@pytest.mark.grading
def test_a_failure_is_told_before_what_passed(node: Toolchain, tmp_path: Path) -> None:
    passing = "\n".join(f'test("passes {index}", () => {{}});' for index in range(200))
    file = tmp_path / "some.test.mjs"
    file.write_text(f'import {{ test }} from "node:test";\n{passing}\ntest("fails", () => {{ throw Error("why"); }});')
    with pytest.raises(AssertionError, match=r"\A\s*test at .*some\.test\.mjs:202:1\n\s*✖ fails .*\n\s*Error: why"):
        run(node, "--test", "--test-reporter=spec", file)
    file.write_text(f'import {{ test }} from "node:test";\n{passing}\ntest("crashes", () => process.abort());')
    with pytest.raises(AssertionError, match=r"(?s)'test failed'.*Native stack trace"):
        run(node, "--test", "--test-reporter=spec", file)


@pytest.mark.full
@pytest.mark.grading
def test_types(node: Toolchain) -> None:
    run(node, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json")


@pytest.mark.full
@pytest.mark.grading
def test_lint(node: Toolchain) -> None:
    run(node, "node_modules/eslint/bin/eslint.js", "--max-warnings=0", ".", seconds=600)


@pytest.mark.full
@pytest.mark.grading
def test_format(node: Toolchain) -> None:
    run(node, "node_modules/prettier/bin/prettier.cjs", "--check", ".", seconds=300)


@pytest.mark.full
@pytest.mark.grading
def test_types_of_the_suite(node: Toolchain) -> None:
    """Of graders: answers import packages that only their own projects have, and the tool checks them."""
    env = clean_environment(PATH=f"{node.node.bin_dir}:/usr/bin:/bin", NO_COLOR="1")
    executable = str(node.node.executable)
    argv = [executable, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "../../tsconfig.json"]
    done = subprocess.run(
        argv, cwd=SOURCES, env=env, capture_output=True, text=True, timeout=patience.seconds(300), check=False
    )
    errors = [line for line in done.stdout.splitlines() if "error TS" in line and "/answer/convex/" not in line]
    assert errors == [] and not done.stderr, done.stderr


@pytest.mark.grading
@pytest.mark.grows
@pytest.mark.parametrize(
    "area", [pytest.param(area, marks=[] if area in QUICK else [pytest.mark.full]) for area in AREAS]
)
def test_area(area: str, node: Toolchain, soak: bool) -> None:
    files = sorted((SOURCES / area).rglob("*.test.ts"))
    assert files, f"{area} has no tests"
    argv = [*FLAGS, "--test", "--test-reporter=spec", *map(str, files)]
    out = run(node, *argv, seconds=1200 if soak else 600, soak=soak)
    skipped = [line.strip() for line in out.splitlines() if line.lstrip().startswith("﹣")]
    if skipped:
        pytest.skip(f"all of {area} passed but for {'; '.join(skipped)}")
