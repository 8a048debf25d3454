"""Our way gives the verdicts of the official tools, in the same words: on answers, and on answers with random edits."""

from __future__ import annotations

import asyncio
import random
import re

import pytest

from bench.cold_pipeline import differences
from bench.pipeline import grade_cold
from convex_evals.config import ProjectConfig
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.setup import ready_service
from convex_evals.suite.suite import load_suite
from tests.conftest import ROOT

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]
_WORD = re.compile(r"[A-Za-z_]\w*|\d+|[(){}\[\];,.:]")


def edited(files: dict[str, str], random_: random.Random) -> dict[str, str]:
    """The files with one to three random edits in the functions folder."""
    changed = dict(files)
    for _ in range(random_.randint(1, 3)):
        path = random_.choice([p for p in sorted(changed) if p.startswith("convex/") and p.endswith(".ts")])
        lines = changed[path].split("\n")
        at = random_.randrange(len(lines))
        match random_.choice(("drop", "repeat", "swap", "replace", "remove")):
            case "drop":
                del lines[at]
            case "repeat":
                lines.insert(at, lines[at])
            case "swap":
                other = random_.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case "replace":
                lines[at] = _WORD.sub(random_.choice(_WORD.findall(changed[path]) or ["x"]), lines[at], count=1)
            case "remove":
                lines[at] = _WORD.sub("", lines[at], count=1)
        changed[path] = "\n".join(lines) or "\n"
    return changed


def test_edited_answers_get_the_same_verdict_both_ways(soak: bool) -> None:
    evals = load_suite(ROOT).select(() if soak else ["function_kinds|index_range"])
    random_ = random.Random(20261122)
    projects = [(ev, edited(dict(ev.answer().files), random_)) for _ in range(5 if soak else 1) for ev in evals]

    async def run() -> list[str]:
        found = []
        bare = Containment(Level.NONE)
        async with (
            ready_service(ROOT, ProjectConfig(), 1, lambda *_: None, lambda _: None, Containment()) as ours,
            ready_service(ROOT, ProjectConfig(), 1, lambda *_: None, lambda _: None, bare) as lender,
        ):
            for number, (ev, files) in enumerate(projects):
                verdict, cold = await asyncio.gather(ours.grade(ev, files), grade_cold(lender, ev, files))
                found += [f"{ev.id}, edit {number}: {line}" for line in differences(verdict, cold)]
        return found

    assert asyncio.run(run()) == []
