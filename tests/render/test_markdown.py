"""Text of others in Markdown: whatever it is, it stays text, and the document around it stays as it is."""

from __future__ import annotations

import html
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.render.markdown import cell, code, fenced, folded, inline, table
from convex_evals.text import JOINER, spelled_out
from tests.rendering import flat, live, running_texts, structure
from tests.tier import examples

HOSTILE = [
    "![x](https://evil.example/x.png) <img src=x onerror=alert(1)> [a](javascript:1)",
    "```\n</details>\n# heading\n```",
    "~~~~\n@octocat closes #123, GH-7, acme/thing#9, see deadbeef0 and https://evil.example, www.evil.example",
    "mail me@example.org, mailto:me@example.org, xmpp:a@b.example/c, PROJ-12, GHSA-8hfj-j24r-96c4, :rocket: $x^2$",
    "| a | b |\n|---|---|\n| `c | d` | e |",
    "<!-- human: notes -->\n<details><summary>",
    "a\\",
    "`",
    "``` `` `",
    "- a\n- b",
    "1. a",
    "[^1]: foot\n[x]: http://evil.example\n[x]",
    "===",
    "---",
    ":-:",
    "> [!WARNING]\n> beware",
    "&#64;octocat &lt;b&gt; &amp;",
    "\x00\x1b[2J\u202ereversed\u2066\u200b\ud800\x85\u2028",
    "x" * 100_000,
    "`" * 1_000 + "\n" + "`" * 300 + "\n" + "~" * 300,
    "   ```\nout\n   ```",
    "\\|`a\\|b`|",
    "",
    " \n\t ",
]
MARKS = "`~|<>[]()!*_#@-+=:.$&\\\n\r\t \"'^{}0123456789abcdefx"
WORDS = ("```", "~~~", "http://e.x", "www.e.x", "<b>", "<!--", "-->", "@me", "#12", "GH-1", "abcdef1", "me@e.xy")
MORE = ("![a](b)", "</details>", "\n\n", "    ", ":a:", "\u202e", "\0")
PIECES = st.sampled_from([*MARKS, *WORDS, *MORE])
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(), st.lists(PIECES, max_size=40).map("".join))
CODES = {"code_inline code", "fence code"}

PLACES: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    "paragraph": (inline, lambda x: f"Before {x} after.\n\nNext.\n"),
    "line": (inline, lambda x: f"Above\n{x}\nbelow\n\nNext.\n"),
    "own paragraph": (inline, lambda x: f"Above\n\n{x} .\n\nNext.\n"),
    "item": (inline, lambda x: f"- a {x}\n- b\n"),
    "heading": (inline, lambda x: f"## a {x}\n\nNext.\n"),
    "bold": (inline, lambda x: f"**a {x} b**\n\nNext.\n"),
    "cell": (cell, lambda x: f"| a | b |\n|---|---|\n| {x} | c |\n\nNext.\n"),
    "code": (code, lambda x: f"Before {x} after.\n\nNext.\n"),
    "code in a line": (code, lambda x: f"Above\n{x}\nbelow\n"),
    "code in a cell": (lambda x: code(x, in_table=True), lambda x: f"| a | b |\n|---|---|\n| {x} | c |\n\nNext.\n"),
    "block": (lambda x: fenced(x, "ts"), lambda x: f"Above\n\n{x}\n\nNext.\n"),
    "folded": (lambda x: folded(x, "Body.", title=f"t {x}"), lambda x: f"Above\n\n{x}\n\nNext.\n"),
    "folded block": (lambda x: folded("s", fenced(x)), lambda x: f"Above\n\n{x}\n\nNext.\n"),
}


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=examples(200))
@given(text=TEXTS)
def test_whatever_it_is_it_stays_text(place: str, text: str) -> None:
    made, document = PLACES[place]
    if place not in ("cell", "block", "folded block") and not text.split():
        return
    markdown = document(made(text))
    benign = document(made("word"))
    assert [k for k in structure(markdown) if k != "text "] == [k for k in structure(benign) if k != "text "]
    # A formula is found in the source, before escapes mean anything.
    assert "$" not in made(text) or made is not inline
    assert not live(list(running_texts(markdown)))
    assert not [t for t in flat(markdown) if t.type in ("link_open", "image", "html_inline")]
    assert all(c.isprintable() or c in "\n\t" or c == JOINER for c in markdown)


@given(text=TEXTS)
def test_nothing_of_it_is_lost(text: str) -> None:
    """What is read is what was written, spelled out and on one line."""
    line = spelled_out(" ".join(text.split())).strip()
    if len(text) <= 400 and len(line) <= 400:
        shown = "".join(t.content for t in flat(f"x {inline(text)}\n") if t.type in ("text", "text_special"))
        assert shown.removeprefix("x").strip().replace(JOINER, "") == line
        if line:
            codes = [t.content for t in flat(f"x {code(text)}\n") if t.type == "code_inline"]
            assert [c.replace(JOINER, "") for c in codes] == [line]
            row = f"| a |\n|---|\n| {code(text, in_table=True)} |\n"
            assert [t.content.replace(JOINER, "") for t in flat(row) if t.type == "code_inline"] == [line]
            assert (
                html.unescape(folded(text, "").split("<summary>")[1].split("</summary>")[0]).replace(JOINER, "") == line
            )


@given(text=st.text(alphabet="ab`~ \n\t", max_size=200))
def test_a_block_shows_every_line(text: str) -> None:
    (block,) = flat(fenced(text))
    assert block.content.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", ["::error file=a::b", "a\n \t::stop-commands::x", "x ##[error]y", "a\n##[group]"])
def test_no_line_is_a_workflow_command(place: str, text: str) -> None:
    """Printed in a CI log, it stays text there, too."""
    made, document = PLACES[place]
    lines = document(made(text)).split("\n")
    assert not [x for x in lines if x.lstrip().startswith("::") or "##[" in x]


def test_what_is_left_out_is_said() -> None:
    assert inline("xyz" * 1_000, 10) == "xyzxyzxyz…" and code("xyz" * 1_000, 10) == "`xyzxyzxyz…`"
    assert fenced("a\n" * 10, limit=3) == "```\na\na\na\n… (7 more lines)\n```"
    assert fenced("x" * 500, width=10) == "```\nxxxxxxxxxx… (490 more characters)\n```"


def test_what_it_looks_like() -> None:
    assert inline("expected 41 to be 42. (main.ts:12:3)") == f"expected 41 to be 42. (main.ts:{JOINER}12:{JOINER}3)"
    assert code("a`b") == "``a`b``" and code("") == "–" == cell(" ")
    assert fenced("a\n```\nb", "ts") == "````ts\na\n```\nb\n````"
    assert inline("-16.7 points") == "-16.7 points" and inline("1. a") == "1\\. a" and inline("- a") == "\\- a"
    assert fenced("graph", "mermaid") == "```\ngraph\n```"
    assert table(["eval", "A"], [["a|b", ""]], right=[1]) == ["| eval | A |", "| --- | --: |", "| a&#124;b | – |"]
    assert folded("1 & 2", "Body", title="T") == "<details><summary><b>T</b> 1 &amp; 2</summary>\n\nBody\n\n</details>"
