"""Whether a change that an attack makes to its neighbours would be seen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.records import Outcome, StepName, StepOutcome, StepResult, Verdict
from convex_evals.suite.suite import load_suite
from tests.attacks.bench import SUITE
from tests.attacks.caches import Caches, differences
from tests.attacks.neighbours import neighbours_of, said


@pytest.fixture
def caches(tmp_path: Path) -> Caches:
    """Caches with one set of packages."""
    for name in ("packages/set/node_modules/convex", "answers/a", "prepared/b", "toolchain"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packages/set/package.json").write_text('{"dependencies": {"convex": "1.48.0"}}')
    for name in ("packages/set/node_modules/convex/index.js", "answers/a/made.json", "prepared/b/made.json"):
        (tmp_path / name).write_text("one")
    (tmp_path / "toolchain/main.ts").write_text("one")
    folders = [tmp_path / name for name in ("packages", "answers", "prepared", "toolchain")]
    return Caches(folders[0], folders[1], folders[2], (folders[3],))


def rewritten(file: Path) -> None:
    """Other bytes of the same length, and the times as they were."""
    before = file.stat()
    file.write_text("two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("one")
    other.replace(file)


def linked(file: Path) -> None:
    file.with_name("again").hardlink_to(file)


@pytest.mark.parametrize(
    "name", ["packages/set/node_modules/convex/index.js", "answers/a/made.json", "prepared/b/made.json"]
)
@pytest.mark.parametrize("change", [rewritten, replaced, linked, Path.unlink, lambda file: file.chmod(0o666)])
def test_a_glance_sees_every_change(
    name: str, change: Callable[[Path], object], caches: Caches, tmp_path: Path
) -> None:
    before = caches.glance()
    change(tmp_path / name)
    assert str(tmp_path / name) in dict(differences(before, caches.glance()))


def test_the_toolchain_is_compared_byte_by_byte(caches: Caches, tmp_path: Path) -> None:
    before = caches.content()
    rewritten(tmp_path / "toolchain/main.ts")
    assert dict(differences(before, caches.content())) == {str(tmp_path / "toolchain/main.ts"): "was changed"}


@pytest.mark.parametrize(
    ("asked", "is_explained"), [({"convex", "left-pad"}, True), ({"convex"}, False), (set(), False)]
)
def test_new_packages_are_explained_by_what_was_asked_for(asked: set[str], is_explained: bool, caches: Caches) -> None:
    new = caches.packages / "new"
    new.mkdir()
    (new / "package.json").write_text('{"dependencies": {"left-pad": "1.3.0"}}')
    assert caches.explained(str(new / "package.json"), asked) is is_explained
    assert not caches.explained(str(caches.answers / "new"), asked)


def test_what_is_being_made_is_nobodys_change_and_what_stays_of_it_is_left(caches: Caches) -> None:
    before = caches.glance()
    (caches.packages / "new.tmp-1" / "node_modules").mkdir(parents=True)
    (caches.packages / "new.lock").touch()
    assert list(differences(before, caches.glance())) == []
    assert caches.unfinished() == [f"{caches.packages / 'new.tmp-1'} is left"]


def test_all_but_the_time_of_a_verdict_is_compared() -> None:
    step = StepResult(step=StepName.TSC, outcome=StepOutcome.PASSED, duration_ms=1, reason="a")
    verdict = Verdict(outcome=Outcome.PASSED, caught_by=None, score=1, steps=(step,), tests=())
    slower = verdict.model_copy(update={"steps": (step.model_copy(update={"duration_ms": 2}),)})
    other = verdict.model_copy(update={"steps": (step.model_copy(update={"reason": "b"}),)})
    assert said(slower) == said(verdict) != said(other)


def test_neighbours_are_right_and_wrong_at_each_step_and_new_each_time() -> None:
    neighbours = neighbours_of({ev.id: ev for ev in load_suite(SUITE).evals})
    steps = {n.caught_by for n in neighbours}
    assert steps == {None, StepName.DEPLOY, StepName.TSC, StepName.ESLINT, StepName.TESTS}
    assert len({n.name for n in neighbours if n.caught_by is None}) == 3
    for neighbour in neighbours:
        assert neighbour.variant() != neighbour.variant()
        assert {**neighbour.variant(), neighbour.source: ""} == {**neighbour.files, neighbour.source: ""}
