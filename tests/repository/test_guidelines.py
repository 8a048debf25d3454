"""The guidelines of this repository: every rule says which evals it is about."""

from __future__ import annotations

from convex_evals.guidelines.document import read_guidelines
from convex_evals.runs.options import DEFAULT_EXPERIMENT
from convex_evals.suite.prompt import PromptSource, without_comments
from convex_evals.suite.starter import FILES
from convex_evals.suite.suite import load_suite
from tests.conftest import ROOT

GUIDELINES = (ROOT / "guidelines" / "convex.md").read_text(encoding="utf-8")
TEMPLATE = (ROOT / "guidelines" / "prompt.j2").read_text(encoding="utf-8")


def test_every_eval_is_named_and_every_name_is_an_eval() -> None:
    named = {name for rule in read_guidelines(GUIDELINES).rules for name in rule.evals}
    assert named == {e.id for e in load_suite(ROOT).evals}


def test_comments_stay_out_of_the_prompt() -> None:
    assert "<!--" not in without_comments(GUIDELINES)
    prompt = PromptSource(TEMPLATE, "prompt.j2", GUIDELINES).render("Do it.\n")
    assert "<!--" not in prompt.system and "# Convex guidelines" in prompt.system
    assert prompt.user == "Do it." and DEFAULT_EXPERIMENT == "default"
    assert "guidelines" not in PromptSource(TEMPLATE, "prompt.j2", None).render("Do it.").system


def test_a_new_repository_gets_the_same_prompt() -> None:
    assert (FILES / "guidelines" / "prompt.j2").read_text(encoding="utf-8") == TEMPLATE
