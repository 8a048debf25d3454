"""The suite of this repository: its graders tell right from wrong."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from convex_evals.config import open_workspace
from convex_evals.grading.case_results import CaseResult
from convex_evals.grading.cases import Case, cases_of, foils_of
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.setup import ready_service
from convex_evals.grading.validation import Validation, incomplete, validate_cases
from convex_evals.records.hashes import sha256_text
from convex_evals.suite.suite import load_suite
from tests import tier
from tests.conftest import NPM_USER_CONFIG, REAL_CACHE, ROOT

pytestmark = pytest.mark.full

# Longer than anything that a grader may take on a quiet machine, since tests run beside others.
GRADER_SECONDS = 5.0


def sample(cases: Sequence[Case]) -> list[Case]:
    """All answers; of each category another project, and each kind of foil once: others for each commit."""
    first: dict[tuple[str, str], Case] = {}
    answers = [case for case in cases if case.kind == "answer"]
    others = [case for case in cases if case.kind != "answer"]
    for case in sorted(others, key=lambda c: sha256_text(f"{tier.seed()} {c.name}")):
        of = ("foil", case.project.label) if case.kind == "foil" else ("category", case.ev.category)
        first.setdefault(of, case)
    chosen = {case.name for case in [*answers, *first.values()]}
    return [c for c in cases if c.name in chosen]


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_answers_pass_and_mistakes_are_caught(soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample; everything, five times, with `--soak`. The nightly workflow runs `cli validate`, too."""
    for name, value in {"npm_config_cache": str(REAL_CACHE / "npm"), **NPM_USER_CONFIG}.items():
        monkeypatch.setenv(name, value)
    suite = load_suite(ROOT)
    cases = cases_of(suite.evals) + foils_of(suite.evals, suite)
    results: list[CaseResult] = []

    async def validate() -> None:
        workspace = open_workspace(None, None, ROOT)
        async with ready_service(ROOT, workspace.config, 2, lambda *_: None, pytest.fail, Containment()) as service:
            await validate_cases(service, cases if soak else sample(cases), 5 if soak else 1, results.append)

    asyncio.run(validate())
    validation = Validation(tuple(results), grader_limit=GRADER_SECONDS if soak else None)
    assert validation.complaints == []
    assert len(results) == (5 * len(cases) if soak else len(suite.evals) + len(suite.categories) + 3)


def test_every_eval_brings_proof() -> None:
    suite = load_suite(ROOT)
    assert incomplete(suite.evals) == []
    by_category = {c: [e for e in suite.evals if e.category == c] for c in suite.categories}
    assert {c: len(evals) for c, evals in by_category.items() if len(evals) < 5} == {}, "five evals per category"
    assert len(by_category) == 8
    for ev in suite.evals:
        assert len(ev.wrong()) >= 4 and len(ev.accept()) >= 2, ev.id
        assert ev.config.concept and ev.config.tags, f"{ev.id}: eval.yaml has no concept, or no tags"
    wrong = [p for ev in suite.evals for p in ev.wrong()]
    assert sum(p.caught_by == "tests" for p in wrong) >= len(wrong) / 2


def test_graders_never_sleep() -> None:
    """A pause of a fixed length is too long where things are quick and too short where they are not."""
    sleep = re.compile(r"new Promise[^;]{0,80}setTimeout\(\s*(resolve|resume|done|r)\b|timers/promises")
    for ev in load_suite(ROOT).evals:
        assert not sleep.search(ev.grader.read_text(encoding="utf-8")), f"{ev.id}: poll with `eventually`"


def test_generated_code_is_committed() -> None:
    for ev in load_suite(ROOT).evals:
        generated = Path(ev.path, "answer", "convex", "_generated", "api.d.ts")
        assert generated.is_file(), f"{ev.id}: run `cli codegen -f {ev.id}`"
