"""What `cli run` is told, as words and as `RunOptions`: the command line reads what is proposed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.cli.app import cli
from convex_evals.cli.commands.run import run as run_command
from convex_evals.cli.invocation import pass_run_options
from convex_evals.errors import UserError
from convex_evals.runs.options import RunOptions
from convex_evals.runs.shard import Shard
from convex_evals.runs.stage import Stage

# Windows aside, a word of a command line is any text without NUL.
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
words = st.lists(texts, max_size=3).map(tuple)
names = st.lists(texts.map(lambda text: text.replace(",", "").strip()).filter(bool) | st.just("replay:a,b")).map(tuple)
paths = texts.map(Path)
shards = st.integers(1, 9999).flatmap(lambda of: st.integers(1, of).map(lambda number: Shard(number, of)))


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "suite": optional(paths),
    "runs": words,
    "due": st.booleans(),
    "models": names,
    "experiments": names,
    "guidelines": optional(texts),
    "trials": st.integers(1, 100),
    "categories": words,
    "patterns": words,
    "sessions": st.booleans(),
    "status": optional(st.sampled_from(["golden", "correct", "incorrect", "needs_review"])),
    "tags": words,
    "compare": optional(st.sampled_from(["exact", "normalised", "similarity", "judge"])),
    "threshold": optional(st.floats(0, 1)),
    "judge": optional(texts),
    "rubric": optional(texts),
    "run_id": optional(texts),
    "day": optional(st.dates().map(lambda day: day.isoformat())),
    "shard": optional(shards),
    "only": optional(st.sampled_from([Stage.ASK, Stage.GRADE])),
    "budget": optional(st.floats(0, allow_nan=False)),
    "batch_wait": optional(st.floats(0, allow_nan=False)),
    "concurrency": optional(st.integers(1, 1000)),
    "timeout": optional(st.floats(1, 86_400)),
    "workers": optional(st.integers(1, 64)),
    "sandbox": optional(st.sampled_from(["strict", "landlock", "container"])),
    "unsafe_no_sandbox": st.booleans(),
    "dry_run": st.booleans(),
    "fresh": st.booleans(),
    "retry_unscored": st.booleans(),
    "fail_on_failure": st.booleans(),
    "commit": st.booleans(),
    "push": st.booleans(),
    "runs_dir": optional(paths),
    "form": st.sampled_from(["terminal", "markdown", "json", "csv"]),
}


def read(arguments: Sequence[str]) -> RunOptions:
    """What `cli` with these arguments gives to `cli run`."""
    with mock.patch.object(run_command, "callback", pass_run_options(lambda options: options)):
        found: RunOptions = cli.main(list(arguments), prog_name="cli", standalone_mode=False)
    return found


def test_every_option_is_a_field_and_every_field_is_tested() -> None:
    names = [field.name for field in fields(RunOptions)]
    assert names == list(VALUES)
    assert {"suite", *(param.name for param in run_command.params)} == set(names)


@given(st.builds(RunOptions, **VALUES))
def test_options_and_arguments_are_the_same(options: RunOptions) -> None:
    assert read(options.arguments()) == options
    assert shlex.split(options.command()) == ["cli", *options.arguments()]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["-m", "reference"], None),
        (["--run-id", "x", "--fresh"], None),
        (["--run", "x", "--fresh"], None),
        (
            ["-m", "reference", "--fresh", "--budget", "2.5", "--commit", "--runs-dir", "a b", "-w", "3"],
            "cli -C there run --run default-00000000 --budget 2.5 --workers 3 --commit --runs-dir 'a b'",
        ),
    ],
)
def test_what_goes_on_after_an_interruption(words: list[str], advice: str | None) -> None:
    rest = read(["-C", "there", "run", *words]).after_interruption(["default-00000000"])
    assert (rest and rest.command()) == advice


def test_the_environment_stands_for_what_is_not_given() -> None:
    environment = {
        "MODELS": "a, b,",
        "EVALS_EXPERIMENT": "no_guidelines",
        "TEST_FILTER": "crons",
        "CUSTOM_GUIDELINES_PATH": "other.md",
    }
    found = RunOptions().with_environment(environment)
    assert found == RunOptions(
        models=("a", "b"), experiments=("no_guidelines",), patterns=("crons",), guidelines="other.md"
    )
    typed = RunOptions(models=("c",), experiments=("default",), patterns=("x",), guidelines="g.md")
    assert typed.with_environment(environment) == typed
    nothing = {"MODELS": "", "TEST_FILTER": "", "CUSTOM_GUIDELINES_PATH": ""}
    assert RunOptions().with_environment(nothing).chooses_nothing


def test_a_filter_of_the_environment_is_one_pattern() -> None:
    assert RunOptions().with_environment({"TEST_FILTER": "!a,b"}).patterns == ("!a,b",)
    with pytest.raises(UserError, match=r"^TEST_FILTER '!\(': not a regular expression: "):
        RunOptions().with_environment({"TEST_FILTER": "!("})
    assert RunOptions(patterns=("a",)).with_environment({"TEST_FILTER": "("}).patterns == ("a",)


def test_patterns_are_written_as_they_are_given() -> None:
    options = read(["run", "-m", "demo", "-f", "a|b", "--filter", "!c d", "-f", "e"])
    assert options.patterns == ("a|b", "!c d", "e")
    assert options.command() == "cli run -m demo -f 'a|b' -f '!c d' -f e"


def test_exactly_these_evals_replace_what_chose_before() -> None:
    options = RunOptions(patterns=("x", "!y"), categories=("a",), tags=("t",))
    assert options.choosing(["a/x"], ["a/x", "a/y"]) == RunOptions(patterns=("^a/x$",))
    assert options.choosing(["a/x"], ["a/x", "b/y"]) == RunOptions(categories=("a",))
    assert options.choosing(["a/x"], ["a/x"]) == RunOptions()
