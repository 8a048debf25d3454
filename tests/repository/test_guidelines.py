"""The guidelines of this repository: every rule says which evals it is about, and where Convex says it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from convex_evals.grading.toolchain import locate_toolchain
from convex_evals.guidelines.document import read_guidelines
from convex_evals.guidelines.sources import source_problems
from convex_evals.models.tokens import offline_counter
from convex_evals.runs.options import DEFAULT_EXPERIMENT
from convex_evals.suite.prompt import PromptSource, given_guidelines, guidelines_sha256, without_comments
from convex_evals.suite.starter import FILES
from convex_evals.suite.suite import load_suite
from tests.conftest import ROOT, Invoke

GUIDELINES = (ROOT / "guidelines" / "convex.md").read_text(encoding="utf-8")
PAGES: dict[str, str] = yaml.safe_load((ROOT / "guidelines" / "sources.yaml").read_text(encoding="utf-8"))
TEMPLATE = (ROOT / "guidelines" / "prompt.j2").read_text(encoding="utf-8")


def test_every_eval_is_named_and_every_name_is_an_eval() -> None:
    named = {name for rule in read_guidelines(GUIDELINES).rules for name in rule.evals}
    assert named == {e.id for e in load_suite(ROOT).evals}


def test_every_rule_names_evals_or_says_none() -> None:
    rules = read_guidelines(GUIDELINES).rules
    assert [f"line {rule.line}: {rule.headline}" for rule in rules if not rule.notes] == []


@pytest.mark.grading
def test_every_rule_has_a_source(toolchain: Path) -> None:
    installed = locate_toolchain(toolchain)
    problems = [
        f"guidelines/convex.md:{rule.line}: {problem}"
        for rule in read_guidelines(GUIDELINES).rules
        for problem in source_problems(rule.notes, installed.node_modules, PAGES)
    ]
    assert not problems, "\n".join(problems)


def test_every_page_of_the_list_is_cited() -> None:
    cited = {page for rule in read_guidelines(GUIDELINES).rules for note in rule.notes for page in note.pages}
    assert (sorted(PAGES.keys() - cited), sorted(cited - PAGES.keys())) == ([], [])
    assert all(PAGES.values())


def test_the_guidelines_stay_within_7000_tokens() -> None:
    assert offline_counter().count(given_guidelines(GUIDELINES))[0] <= 7000


def test_comments_stay_out_of_the_prompt() -> None:
    assert "<!--" not in without_comments(GUIDELINES)
    prompt = PromptSource(TEMPLATE, "prompt.j2", GUIDELINES).render("Do it.\n")
    assert "<!--" not in prompt.system and "# Convex guidelines" in prompt.system
    assert prompt.user == "Do it." and DEFAULT_EXPERIMENT == "default"
    assert "guidelines" not in PromptSource(TEMPLATE, "prompt.j2", None).render("Do it.").system


def test_a_new_repository_gets_the_same_prompt() -> None:
    assert (FILES / "guidelines" / "prompt.j2").read_text(encoding="utf-8") == TEMPLATE
    guidelines = (FILES / "guidelines" / "convex.md").read_text(encoding="utf-8")
    assert "<!--" not in guidelines, "its evals are others"
    assert guidelines_sha256(guidelines) == guidelines_sha256(GUIDELINES)


def test_the_files_for_editors_are_up_to_date(invoke: Invoke) -> None:
    result = invoke("guidelines", "build", "--check", cwd=ROOT)
    assert result.status == 0, result.err
