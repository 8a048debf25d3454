"""A table in each format: what fits, what is kept, and that nothing breaks out of its cell."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from convex_evals.render import output
from convex_evals.render.data import records, to_csv, to_data
from convex_evals.render.markdown import to_markdown
from convex_evals.render.model import Cell, Column, Row, Section, Table, Tone, Value, apart, text_columns
from convex_evals.render.plain import fold, lines, plain, width_of
from convex_evals.text import one_line, printable, spelled_out
from tests.conftest import ROOT, clean_environment
from tests.factories import make_eval, make_run
from tests.render.test_markdown import HOSTILE as MARKDOWN
from tests.render.test_output import PIECES, obeyed
from tests.rendering import flat, live, running_texts
from tests.tier import examples

WORDS = st.lists(
    st.sampled_from(
        [*PIECES, *MARKDOWN, "anthropic/claude-sonnet-5", "30-96%", "\u6f22\u5b57", " ", "::", "|", '"', ","]
    )
).map("".join)
# Tables of long texts are meant: hypothesis warns before it shows one.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
TEXTS = st.text() | WORDS
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.booleans() | NUMBERS | TEXTS | st.lists(st.text("ab=-")).map(tuple)
SLOW = settings(max_examples=examples(100), phases=[Phase.explicit, Phase.generate])


@st.composite
def any_table(draw: st.DrawFn) -> Table:
    """Some columns are for people alone, some for machines."""
    count = draw(st.integers(1, 6))
    columns = [
        Column(key, heading, right)
        for i in range(count)
        for key in [draw(st.sampled_from([f"key_{i}", None]))]
        for heading in [draw(st.sampled_from([f"h{i}", "95 % interval", None]))]
        for right in [draw(st.booleans())]
    ]
    cells = VALUES | st.builds(Cell, TEXTS, VALUES, st.sampled_from([None, *Tone]))
    rows = draw(st.lists(st.lists(cells, min_size=count, max_size=count), max_size=4))
    return Table.of(columns, rows)


def drawn(table: Table, width: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines(Section((table,)), width)]


@given(any_table(), st.integers(2, 200))
@SLOW
def test_no_line_is_wider_than_the_terminal(table: Table, width: int) -> None:
    for line in drawn(table, width):
        assert width_of(line) <= width
        assert printable(line) == line and not obeyed(line)


@given(any_table())
@SLOW
def test_a_pipe_gets_a_line_for_each_row_and_all_of_it(table: Table) -> None:
    found = plain(table).split("\n")
    if not table.shown:
        assert found == [""]
        return
    assert len(found) == 2 + len(table.rows)
    for line, row in zip(found[2:], table.rows, strict=True):
        for i in table.shown:
            for word in spelled_out(one_line(row[i].text)).split():
                # What is escaped depends on whether it stands at the beginning.
                forms = (printable(word), printable(f"x {word}").removeprefix("x "), word)
                assert any(form in line for form in forms)


@given(TEXTS, st.integers(2, 40))
@SLOW
def test_folding_loses_blanks_alone(text: str, width: int) -> None:
    shown = printable(text.replace("\n", " "))
    folded = fold(shown, width)
    assert all(width_of(line) <= width for line in folded)
    bare = re.sub(r"[\s\\]", "", shown)
    assert re.sub(r"[\s\\]", "", "".join(folded)) == bare


def test_a_wide_terminal_shows_what_a_pipe_gets() -> None:
    table = Table.of(text_columns(["name", "n"]), [["b", "2"], ["\u6f22\u5b57", "1"], ["e\u0301", "10"]])
    assert (
        "\n".join(drawn(table, 80)) == plain(table) == "name   n\n----  --\nb      2\n\u6f22\u5b57   1\ne\u0301     10"
    )


def test_a_narrow_terminal_breaks_between_words_then_shows_a_block_for_each_row() -> None:
    columns = text_columns(["model", "95 % interval"])
    table = Table.of(columns, [["anthropic/claude-sonnet-5", "30-96%"], ["acme/m", "4-70%"]])
    assert drawn(table, 22) == [
        "model             95 %",
        "              interval",
        "----------  ----------",
        "anthropic/      30-96%",
        "claude-",
        "sonnet-5",
        "acme/m           4-70%",
    ]
    assert drawn(table, 12)[:3] == ["model:", "anthropic/", "claude-"]


@given(any_table())
@SLOW
def test_markdown_keeps_its_cells(table: Table) -> None:
    document = to_markdown(Section.of("Before.", table, "After."))
    if not table.shown:
        return
    kinds = [token.type for token in flat(document)]
    assert kinds.count("table_open") == 1
    assert kinds.count("tr_open") == 1 + len(table.rows)
    assert kinds.count("td_open") == len(table.rows) * len(table.shown)
    assert not {"link_open", "image", "html_inline", "html_block", "code_inline", "em_open"} & set(kinds)
    assert live(list(running_texts(document))) == []


def read(value: Value) -> str:
    """What CSV says of a value, the apostrophe aside."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return repr(value)
    return spelled_out(" ".join(value) if isinstance(value, tuple) else value)


@given(any_table())
@SLOW
def test_csv_comes_back_and_is_no_formula(table: Table) -> None:
    keyed = [i for i, column in enumerate(table.columns) if column.key is not None]
    if not keyed:
        return
    csv.field_size_limit(10_000_000)  # Python's reader takes 128 KiB by default
    head, *rows = csv.reader(io.StringIO(to_csv(Section((table,))), newline=""), strict=True)
    assert head == [table.columns[i].key for i in keyed]
    for row, cells in zip(rows, table.rows, strict=True):
        for text, i in zip(row, keyed, strict=True):
            value = cells[i].value
            if isinstance(value, (str, tuple)):
                assert not text.startswith(("=", "+", "-", "@"))
                text = text[1:] if text.startswith("'") else text
            assert text == read(value)


@given(any_table())
@SLOW
def test_json_comes_back(table: Table) -> None:
    found = json.loads(json.dumps(to_data(Section((table,)))))
    assert found == records(table)
    for record, cells in zip(found, table.rows, strict=True):
        for column, cell in zip(table.columns, cells, strict=True):
            if column.key is not None:
                assert record[column.key] == (list(cell.value) if isinstance(cell.value, tuple) else cell.value)
        assert record.keys() == {column.key for column in table.columns if column.key is not None}


def test_csv_is_one_table_with_a_header() -> None:
    columns = [Column("name", "name"), Column("n", None)]
    assert to_csv(Section.of("none", Table.of(columns, []).for_machines())) == "name,n\n"
    assert to_csv(Section.of("no table")) == ""


def test_a_narrow_terminal_leaves_out_what_can_be_spared() -> None:
    columns = [
        Column("name", "name", is_id=True),
        Column("first", "first one", spare=1),
        Column("n", "n", right=True, spare=2),
        Column("why", "why", spare=1),
        Column("result", "result"),
    ]
    table = Table.of(columns, [["acme/a-long-name", "whole words", 7, "because of it", "passed"]])

    def shown(width: int) -> list[str]:
        return ["".join(text for text, _ in line) for line in lines(Section((table,)), width)]

    assert len(shown(60)) == 3
    assert shown(32) == [
        "name              first   result",
        "                  one",
        "----------------  ------  ------",
        "acme/a-long-name  whole   passed",
        "                  words",
        "Not shown, for want of width: n,",
        "why; `--json` has all.",
    ]
    assert shown(26)[0] == "name              result"
    assert not any(line.startswith("Not shown") for line in shown(12))  # blocks, which have all


def test_tables_of_the_same_columns_are_one_in_csv() -> None:
    columns, others = [Column("name", "name"), Column("n", None)], [Column("x", "x")]
    rows: list[Row] = [["a", 1]]
    parts = [Section.of(Table.of(columns, rows), heading="one"), Section.of("text", Table.of(columns, [["=b", -2]]))]
    section = apart(*parts, Table.of(others, [[None]]))
    assert to_csv(section) == "name,n\na,1\n'=b,-2\n"
    assert to_data(section) == [
        {"section": "one", "rows": [{"name": "a", "n": 1}]},
        {"section": "", "rows": [{"name": "=b", "n": -2}]},
        {"section": "", "rows": [{"x": None}]},
    ]
    assert plain(section) == "one\nname\n----\na\n\ntext\nname\n----\n=b\n\nx\n-\n"
    assert to_markdown(section).startswith("### one\n\n| name |\n| --- |\n| a |\n\ntext\n\n| name |")


@given(any_table())
@SLOW
def test_what_is_printed_passes_the_door(table: Table) -> None:
    for print_it in (output.say_section, lambda section: output.say_csv(to_csv(section))):
        out = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            print_it(Section.of(table))
        assert all(c in "\n\t" or c.isprintable() for c in out.getvalue())
        assert not any(obeyed(line) for line in out.getvalue().splitlines())


def on_a_terminal(cwd: Path, *arguments: str, columns: int, **env: str) -> str:
    """What a terminal of so many columns is sent."""
    ours, theirs = pty.openpty()
    words = {"TERM": "xterm-256color", "COLUMNS": str(columns), **env}
    argv = [sys.executable, str(ROOT / "cli.py"), *arguments]
    with subprocess.Popen(argv, cwd=cwd, stdout=theirs, env=clean_environment(**words)) as process:
        os.close(theirs)
        data = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux says so where the other end is closed
                break
            if not part:
                break
            data += part
    os.close(ours)
    assert process.returncode == 0
    return data.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_and_no_long_line(tmp_path: Path) -> None:
    make_eval(tmp_path)
    rows = {"000-fundamentals/000-answer": "pf", "001-queries/000-first": "pp"}
    make_run(tmp_path / "runs", rows, model="anthropic/claude-sonnet-4-5-20250929-long")
    wide = on_a_terminal(tmp_path, "list", columns=200)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", wide)
    assert "\x1b[1mrun" in wide and "anthropic/claude-sonnet-4-5-20250929-long" in bare
    assert on_a_terminal(tmp_path, "list", columns=200, NO_COLOR="1") == bare
    # What stands between tables is left to the terminal, which breaks lines itself.
    for columns, command in ((80, "list"), (80, "leaderboard"), (40, "list")):
        out = on_a_terminal(tmp_path, command, columns=columns, NO_COLOR="1")
        assert "\x1b" not in out
        assert max(map(len, out.splitlines())) <= columns, out
