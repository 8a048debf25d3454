"""Each command that prints a table prints it in every format."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from convex_evals.cli.app import COMMANDS, cli
from convex_evals.render.markdown import inline
from tests.conftest import Invoke
from tests.factories import make_eval, make_run

FORMATS = ["terminal", "markdown", "json", "csv"]
# These print lines. A new command prints tables unless it stands here.
WITHOUT_A_TABLE = {"new-eval", "init", "completion install", "completion show", "keys create", "keys revoke"}
# These write files in formats of their own.
EXPORTS = {"export", "sessions export"}
EVALS = {"000-fundamentals/000-answer": "pf", "001-queries/000-first": "pp"}


def leaves() -> Iterator[tuple[str, click.Command]]:
    with click.Context(cli) as context:
        for name in COMMANDS:
            command = cli.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from ((f"{name} {below}", leaf) for below, leaf in command.commands.items())
            else:
                yield name, command


def test_every_command_with_a_table_has_all_formats() -> None:
    found = dict(leaves())
    assert found.keys() >= WITHOUT_A_TABLE | EXPORTS
    for name, command in found.items():
        options = {word: p for p in command.params for word in p.opts}
        if name in WITHOUT_A_TABLE:
            assert "--format" not in options
            continue
        if name in EXPORTS:
            assert "--format" in options and "--json" not in options
            continue
        assert {"--format", "--json"} <= options.keys(), name
        kind = options["--format"].type
        assert isinstance(kind, click.Choice) and list(kind.choices) == FORMATS, name
        assert options["--json"].name == options["--format"].name


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for eval_id in EVALS:
        make_eval(tmp_path, eval_id)
    (tmp_path / "models.yaml").write_text("models:\n  - slug: acme/model-1\n    tags: [a, b]\n")
    make_run(tmp_path / "runs", EVALS, run_id="before", date="2026-01-30")
    make_run(tmp_path / "runs", dict.fromkeys(EVALS, "pp"), run_id="after", guidelines_sha256="a" * 64)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        ("list", ["run_id", "date", "model", "experiment"]),
        ("list evals", ["eval", "pipeline", "wrong", "accept", "tags", "path"]),
        ("models list", ["slug", "name", "key_variable", "key_state", "first_seen", "tags", "shipped"]),
        ("status", ["run_id", "model", "experiment", "category", "passed", "failed", "unscored", "pass_rate"]),
        ("show before", ["eval", "trial", "outcome", "duration_ms", "caught_by", "reason"]),
        (
            "history -m model-1",
            ["date", "run_id", "experiment", "benchmark", "evals", "missing", "passed", "scored"],
        ),
        ("leaderboard", ["benchmark", "experiment", "model", "rank", "rank_best", "rank_worst", "provisional"]),
        ("matrix", ["experiment", "eval", "all", "acme/model-1"]),
        ("compare before after", ["category", "evals", "a", "b", "difference"]),
        ("prune --keep 1", ["run_id", "date", "model", "experiment", "folder", "replies", "bytes", "pruned"]),
        (
            "run -m reference --dry-run",
            ["model", "experiment", "trials", "reused", "calls", "input_tokens", "usual_usd", "most_usd"],
        ),
    ],
)
def test_a_command_in_each_format(command: str, columns: list[str], suite: Path, invoke: Invoke) -> None:
    words = command.split()
    texts = {form: invoke(*words, "--format", form).out for form in FORMATS}
    assert texts["terminal"] == invoke(*words).out and texts["json"] == invoke(*words, "--json").out
    assert json.loads(texts["json"])
    assert "| --- |" in texts["markdown"] and "--  --" in texts["terminal"]
    head, *rows = csv.reader(io.StringIO(texts["csv"]))
    assert head[: len(columns)] == columns
    assert rows and all(len(row) == len(head) for row in rows)


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        ("plan -m reference", ["run_id", "folder", "model", "experiment", "evals", "trials", "complete"]),
        ("models show model-1", ["setting", "value"]),
        ("models check model-1", ["model", "fault", "message", "first_token_ms", "duration_ms", "priced"]),
        ("report before", ["run_id", "date", "model", "experiment", "eval", "failed_trials", "trials"]),
    ],
)
def test_what_a_terminal_shows_as_lines_is_a_table_elsewhere(
    command: str, columns: list[str], suite: Path, invoke: Invoke
) -> None:
    words = command.split()
    texts = {form: invoke(*words, "--format", form).out for form in FORMATS}
    assert texts["terminal"] == invoke(*words).out and texts["json"] == invoke(*words, "--json").out
    assert re.search(r"^\| ?--", texts["markdown"], re.M) and "|" not in texts["terminal"]
    assert json.loads(texts["json"])
    head, *rows = csv.reader(io.StringIO(texts["csv"]))
    assert head[: len(columns)] == columns
    assert rows and all(len(row) == len(head) for row in rows)


def test_a_report_is_written_by_default_alone(suite: Path, invoke: Invoke) -> None:
    for form in FORMATS[1:]:
        assert invoke("report", "before", "--format", form).status == 0
    assert not (suite / "reports").exists()
    assert invoke("report", "before", "--stdout").out == invoke("report", "before", "--format", "markdown").out
    assert invoke("report", "before", "--stdout", "--format", "csv").status == 2
    assert invoke("report", "before").status == 0 and (suite / "reports").exists()


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("list", "run_id"),
        ("leaderboard", "benchmark"),
        ("matrix", "experiment"),
        ("due", "model"),
        ("guidelines coverage", "eval"),
        ("benchmark list", "name"),
        ("keys list", "name"),
    ],
)
def test_csv_of_nothing_is_a_header(command: str, first: str, suite: Path, invoke: Invoke) -> None:
    shutil.rmtree(suite / "runs")
    (suite / "models.yaml").unlink()
    (suite / "guidelines.md").write_text("# Rules\n\n- One.\n")
    (suite / "convex-evals.yaml").write_text("experiments:\n  default: {guidelines: guidelines.md}\n")
    text = invoke(*command.split(), "--format", "csv").out
    assert text.startswith(f"{first},") and text.count("\n") == 1, text


def test_csv_has_typed_values(suite: Path, invoke: Invoke) -> None:
    (row, _) = csv.DictReader(io.StringIO(invoke("history", "-m", "model-1", "--format", "csv").out))
    assert (row["passed"], row["scored"], row["pass_rate"], row["date"]) == ("3", "4", "0.75", "2026-01-30")
    assert float(row["interval_low"]) < 0.75 < float(row["interval_high"])


def test_one_eval_is_no_table(suite: Path, invoke: Invoke) -> None:
    result = invoke("show", "before", "answer", "--format", "csv")
    assert result.status == 2 and "--format csv is for a whole run" in result.err


@pytest.mark.parametrize(
    ("command", "ids"),
    [
        ("list", ["default-0123abcd", "acme/model-1"]),
        ("history -m model-1", ["default-0123abcd"]),
        ("leaderboard", ["default-0123abcd", "acme/model-1"]),
    ],
)
def test_ids_in_markdown_can_be_copied(command: str, ids: list[str], suite: Path, invoke: Invoke) -> None:
    """GitHub would make a commit, or a ticket, of such an id in running text."""
    make_run(suite / "runs", EVALS, run_id="default-0123abcd", date="2026-02-01", guidelines_sha256="a" * 64)
    page = invoke(*command.split(), "--format", "markdown").out
    assert [name for name in ids if f"| `{name}` |" not in page] == []
    parted = inline("default-0123abcd")
    assert parted != "default-0123abcd"
    assert invoke("show", parted, "--json").out == invoke("show", "default-0123abcd", "--json").out != ""
