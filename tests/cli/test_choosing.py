"""How evals are chosen on the command line: the same by every command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from convex_evals.cli.app import cli
from tests.conftest import Invoke
from tests.factories import make_eval

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
