"""Text of others is harmless wherever it is printed, and it is printed in one place."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.render import output
from convex_evals.render.model import Section, Table, text_columns
from convex_evals.render.plain import lines as terminal_lines
from convex_evals.render.plain import plain
from convex_evals.render.terminal import Display
from convex_evals.text import one_line, printable, spelled_out
from tests.conftest import Invoke
from tests.syntax import parsed
from tests.tier import examples

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "convex_evals"
DOOR = PACKAGE / "render/output.py"
# These draw on the terminal by a library, each name with the module that may use it.
DRAWN = {
    "rich.console.Console": "render/terminal.py",
    "rich.progress.Progress": "render/terminal.py",
    "questionary": "cli/questions.py",
}
PRINTS = {
    *("click.echo", "click.secho", "click.echo_via_pager", "click.pause", "click.prompt", "click.progressbar"),
    *("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "print", "builtins.print", "rich.print"),
    *("pprint.pprint", "pprint.pp", "traceback.print_exc", "traceback.print_exception", "warnings.warn"),
    *DRAWN,
}
# What asks whether somebody is there prints nothing.
HARMLESS = {"isatty", "encoding"}
# Other programs than the command line: what they write is read by a process of ours, never by a person.
PROGRAMS = {
    "render/template_child.py",
    *(f"grading/sandbox/{name}.py" for name in ("landlocked", "launcher", "probe")),
}


def printing(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of whatever in a module writes to a standard stream, whatever it is imported as."""
    known: dict[str, str] = {"print": "print"}
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, whole in imported(node):
                known[name] = whole
                if whole in PRINTS:
                    yield node.lineno, whole
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        name = dotted(node, known)
        parent = parents.get(node)
        if name in PRINTS and not (isinstance(parent, ast.Attribute) and parent.attr in HARMLESS):
            yield node.lineno, name
        called = dotted(node.func, known) if isinstance(node, ast.Call) else ""
        if called == "os.write" and isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
            yield node.lineno, called


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import makes, and what they stand for."""
    for a in node.names:
        if isinstance(node, ast.ImportFrom):
            yield a.asname or a.name, f"{node.module}.{a.name}"
        elif a.asname:
            yield a.asname, a.name
        else:
            yield a.name.partition(".")[0], a.name.partition(".")[0]


def dotted(node: ast.AST, known: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute) and (base := dotted(node.value, known)):
        return f"{base}.{node.attr}"
    return ""


def test_nothing_prints_around_the_door() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).as_posix()
        if path == DOOR or inside in PROGRAMS or inside.startswith(("suite/demo/", "suite/starter/files/")):
            continue
        for line, name in printing(parsed(path.read_text(encoding="utf-8"))):
            if DRAWN.get(name) != inside:
                found.append(f"{inside}:{line}: {name}")
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "import click\nclick.echo('x')",
        "import click as c\nc.secho('x')",
        "from click import echo as say\nsay('x')",
        "import sys\nsys.stdout.write('x')",
        "from sys import stderr\nstderr.write('x')",
        "import sys as s\nprint_ = s.__stdout__.write",
        "import os\nos.write(1, b'x')",
        "import builtins\nbuiltins.print('x')",
        "def f(echo=print): ...",
        "import rich.console\nrich.console.Console().print('x')",
    ],
)
def test_the_search_finds_what_prints(source: str) -> None:
    assert list(printing(parsed(source)))


COMMANDS = [
    "::set-output name=a::b",
    "  ::error file=x::y",
    "a\r::add-mask::z",
    "a\u2028::stop-commands::t",
    "a\x85::group::t",
    "\ufeff::warning::t",
    "\x0b::warning::t",
    "text ##[error]boom",
    "##[group]x",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[message text='x']",
    "section_start:1560896352:a\r\x1b[0Kb",
]


def obeyed(line: str) -> bool:
    """Whether a CI system takes a line of its log for a command."""
    marks = r"##\w*\[|section_(start|end):\d+:\w+\r"
    return line.lstrip().startswith("::") or re.search(marks, line) is not None


@pytest.mark.parametrize("text", COMMANDS)
def test_no_line_is_a_command(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    output.say(text)
    output.say_markdown(f"{text}\n")
    output.complain(text)
    output.say_json(json.dumps({"a": text}, ensure_ascii=False))
    printed = capsys.readouterr()
    for line in f"{printed.out}{printed.err}".splitlines():
        assert not obeyed(line), line


PIECES = [*COMMANDS, "\x1b[31m", "\u202e", "\ud800", "e\u0301", "\n", "#", ":", "[", "\x9b"]
HOSTILE = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


@given(HOSTILE)
@settings(max_examples=examples(300))
def test_any_text_is_inert(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    assert all(c in "\n\t" or c.isprintable() for c in shown)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for c in shown if c not in "\n\t")
    assert not any(obeyed(line) for line in shown.splitlines())


@given(st.recursive(HOSTILE | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(HOSTILE, inner)))
@settings(max_examples=examples(200))
def test_json_says_the_same_and_is_inert(value: object) -> None:
    for ascii_ in (True, False):
        out = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            output.say_json(json.dumps(value, indent=2, ensure_ascii=ascii_))
        printed = out.getvalue()
        assert json.loads(printed) == json.loads(json.dumps(value))
        assert all(c == "\n" or c.isprintable() for c in printed)
        assert not any(obeyed(line) for line in printed.splitlines())
        assert "##[" not in printed and "##vso[" not in printed


def test_what_is_drawn_on_lines_of_others_is_spelled_out() -> None:
    flood = "a" + "\u0301" * 50
    assert printable(flood).count("\u0301") == 4
    assert printable("ｱﾝ は日本語 ไม่ cafe\u0301 ✓ 🟢") == "ｱﾝ は日本語 ไม่ cafe\u0301 ✓ 🟢"
    for unseen in "\u3164\u2800\u115f\u034f\U000e0041\u200b\u00ad\U000e0101":
        assert unseen not in printable(f"a{unseen}b")


@pytest.mark.parametrize(
    "cell",
    ["x" * 5_000, "\u6f22" * 3_000, "a" + "\u0301" * 5_000, "a\nFAIL forged", "\u200b" * 900, "a\tb", "\x1b[99C"],
    ids=["long", "wide", "marks", "lines", "unseen", "tab", "escape"],
)
def test_a_cell_is_one_line_and_bounded_on_a_terminal(cell: str) -> None:
    table = Table.of(text_columns(["name", "n"]), [[cell, "1"], ["b", "2"]])
    lines = plain(table).split("\n")
    assert len(lines) == 4 and lines[-1].split() == ["b", "2"]
    # A pipe gets the whole cell, and no other line is padded for it.
    assert lines[2].startswith(spelled_out(one_line(cell)).replace("\t", " "))
    assert max(len(line) for i, line in enumerate(lines) if i != 2) <= 204
    drawn = ["".join(text for text, _ in line) for line in terminal_lines(Section((table,)), 1_000)]
    assert len(drawn) == 4 and max(map(len, drawn)) <= 900 and len(drawn[1]) <= 204


def test_columns_of_wide_text_stand_below_each_other() -> None:
    lines = plain(Table.of(text_columns(["name", "n"]), [["\u6f22\u5b57", "1"], ["e\u0301", "2"]])).split("\n")
    assert lines == ["name  n", "----  -", "\u6f22\u5b57  1", "e\u0301     2"]


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_harmless_too(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "[link=http://evil]x[/link]\r\x1b]0;t\x07\n::error::forged"
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with Display() as display:
        display.preparing(hostile, 1, 2)
        display.start(hostile, 1)
        display.item("failed", hostile, 1.0, hostile)
        display.progress(hostile)
        display.warn(hostile)
    told = capsys.readouterr().err
    assert "\x1b]" not in told and "\r\\" not in told and "\x07" not in told
    assert "[link=http://evil]x[/link]" in told
    assert not any(line.lstrip().startswith("::") for line in told.splitlines())
    assert ("\x1b[" in told) is terminal  # our own colours


def test_a_stream_that_knows_few_characters_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.say("✓ done")
    assert raw.getvalue() == b"\\u2713 done\n"


def test_usage_errors_pass_the_door(invoke: Invoke) -> None:
    told = invoke("show", "--section\x1b[31m\u202e")
    assert told.status == 2 and "\x1b" not in told.err and "\u202e" not in told.err
