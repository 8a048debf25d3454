"""How evals, models and numbers are given on the command line: the same to every command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from convex_evals.cli.app import cli
from convex_evals.cli.numbers import Number, WholeNumber
from tests.conftest import Invoke
from tests.factories import make_eval, write_files
from tests.provider import models_yaml

CRONS, PAGES, SEARCH = "000-fundamentals/000-crons", "001-queries/000-pages", "001-queries/001-search"
CHOICES = [
    (["-f", "crons", "-f", "pages"], [CRONS, PAGES]),
    (["-f", "!crons"], [PAGES, SEARCH]),
    (["-f", "queries", "-f", "!search", "-f", "crons"], [CRONS, PAGES]),
    (["--tag", "indexes"], [PAGES, SEARCH]),
    (["--tag", "indexes", "--tag", "text"], [SEARCH]),
    (["-c", "queries", "-f", "!s$", "--tag", "indexes"], [SEARCH]),
]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_eval(tmp_path, CRONS)
    make_eval(tmp_path, PAGES, {"eval.yaml": "tags: [indexes]"})
    make_eval(tmp_path, SEARCH, {"eval.yaml": "tags: [indexes, text]"})
    return tmp_path


def commands(group: click.Group = cli) -> Iterator[tuple[str, click.Command]]:
    """All commands, by their words."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {words}", found) for words, found in commands(command))


@pytest.mark.parametrize(("words", "evals"), CHOICES)
def test_evals_are_listed_and_planned_alike(words: list[str], evals: list[str], suite: Path, invoke: Invoke) -> None:
    listed = json.loads(invoke("list", "evals", "--json", *words).out)
    assert [row["eval"] for row in listed] == evals
    [planned] = json.loads(invoke("plan", "-m", "reference", "--json", *words).out)
    assert list(json.loads((Path(planned["folder"]) / "run.json").read_text())["evals"]) == evals


def test_a_plan_of_a_given_day_is_the_same_on_every_machine(suite: Path, invoke: Invoke) -> None:
    def plan(runs: str, *words: str) -> str:
        [planned] = json.loads(invoke("plan", "-m", "reference", "--runs-dir", suite / runs, "--json", *words).out)
        return (Path(planned["folder"]) / "run.json").read_text()

    words = ("--run-id", "nightly", "--date", "2026-01-31")
    assert plan("one", *words) == plan("other", *words)
    today = json.loads(plan("today"))
    assert today["planned_at"].startswith(today["date"])


@pytest.mark.parametrize("pattern", ["crons", "!queries"])
def test_a_filter_of_the_environment(
    pattern: str, suite: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_FILTER", pattern)
    [planned] = json.loads(invoke("plan", "-m", "reference", "--json").out)
    assert planned["evals"] == 1
    assert json.loads(invoke("plan", "-m", "reference", "--json", "-f", "queries").out)[0]["evals"] == 2


def test_every_command_takes_several_patterns() -> None:
    options = {words: option for words, command in commands() for option in command.params if "--filter" in option.opts}
    assert set(options) == {"run", "plan", "validate", "codegen", "list", "export", "validate-guidelines", "matrix"}
    assert all(option.name == "patterns" and option.multiple for option in options.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-f", "crons", "-f", "!(", "-c", "queries"], "-f '!(': not a regular expression: "),
        (["-f", "!."], "no eval matches -f '!.'; `cli list evals` shows all 3"),
        (["-f", "crons", "-c", "queries"], "no eval matches -f 'crons' -c 'queries'; "),
        (["--tag", "index"], "--tag index: no eval has it; did you mean 'indexes'?"),
    ],
)
@pytest.mark.parametrize("command", ["list evals", "plan -m reference", "run -m reference", "validate", "codegen"])
def test_what_chooses_nothing_is_said(command: str, words: list[str], said: str, suite: Path, invoke: Invoke) -> None:
    done = invoke(*command.split(), *words)
    assert (done.status, done.err.count("\n")) == (1, 1) and said in done.err


@pytest.mark.parametrize(
    ("words", "models"),
    [
        (["-m", "reference,demo"], ["reference/answers", "demo/recorded"]),
        (["-m", " reference , demo,", "-m", "reference"], ["reference/answers", "demo/recorded"]),
    ],
)
def test_models_with_commas(words: list[str], models: list[str], suite: Path, invoke: Invoke) -> None:
    assert [row["model"] for row in json.loads(invoke("plan", "--json", *words).out)] == models


def test_experiments_with_commas(suite: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "secret")
    write_files(suite, {"models.yaml": models_yaml("http://127.0.0.1:9/v1"), "guidelines/convex.md": "Be brief.\n"})
    words = ["plan", "-m", "stub/model", "-e", "default,no_guidelines", "--json"]
    planned = json.loads(invoke(*words).out)
    assert [row["experiment"] for row in planned] == ["default", "no_guidelines"]


def test_a_path_of_replies_may_have_commas(suite: Path, invoke: Invoke) -> None:
    done = invoke("plan", "-m", "replay:a,b")
    assert done.status == 1 and "-m replay:a,b: " in done.err


def test_a_name_is_needed(suite: Path, invoke: Invoke) -> None:
    tried = 0
    for words, command in commands():
        for option in command.params:
            named = {"-m": "a model", "-e": "an experiment"}.get(option.opts[0])
            for value in ("", " ", ",") if named and option.multiple else ("", " ") if named else ():
                done = invoke(*words.split(), *_needed(command), option.opts[0], value)
                said = f"Error: {option.opts[0]} needs the name of {named}"
                assert (done.status, done.err.splitlines()[-1]) == (2, said), words
                tried += 1
    assert tried > 30


def _needed(command: click.Command) -> list[str]:
    """Arguments and options without which the command is refused."""
    return [
        word
        for param in command.params
        if param.required and "-m" not in param.opts
        for word in ([param.opts[0]] if isinstance(param, click.Option) else []) + ["1"]
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run -m demo --trials 0", "--trials 0: use a number from 1 to 100"),
        ("run -m demo --trials 1.5", "--trials 1.5: use a whole number from 1 to 100"),
        ("run -m demo --trials a\tb", "--trials 'a\tb': use a whole number from 1 to 100"),
        ("run -m demo --concurrency 0", "--concurrency 0: use a number from 1 to 1000"),
        ("run -m demo -w 65", "--workers 65: use a number from 1 to 64"),
        ("run -m demo --budget -1", "--budget -1: use a number from 0 up"),
        ("run -m demo --budget nan", "--budget nan: use a number from 0 up"),
        ("run -m demo --budget", "Option '--budget' requires an argument."),
        ("run -m demo --sessions --threshold 2", "--threshold 2: use a number from 0 to 1"),
        ("plan -m demo --most-shards few", "--most-shards few: use a whole number from 1 to 256"),
        ("report last --budget 0", "--budget 0: use a number above 0"),
        ("prune --keep -1", "--keep -1: use a number from 0 up"),
    ],
)
def test_a_number_that_does_not_fit(words: str, said: str, suite: Path, invoke: Invoke) -> None:
    done = invoke(*words.split(" "))
    assert (done.status, done.err.splitlines()[-1]) == (2, f"Error: {said}")


def test_every_number_is_refused_in_our_words() -> None:
    numbers = (click.types.IntParamType, click.types.FloatParamType)
    types = [option.type for _, command in commands() for option in command.params if isinstance(option.type, numbers)]
    assert len(types) > 30 and all(isinstance(each, WholeNumber | Number) for each in types)
