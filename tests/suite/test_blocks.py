from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from convex_evals.suite.blocks import Fenced, Heading, blocks
from convex_evals.suite.extract import MAX_RESPONSE, extract
from tests.tier import examples

# What headings and fences are made of, and what they stand in. Numbered items that begin with another number than 1 are
# not here: markdown-it ends a list with them where CommonMark goes on with its paragraph.
_PLAIN = ["# Files", "## a.ts", "## `b.ts`", "## c ##", "#", "#x", "   # y", "Files\n===", "head\n---", "---", "* * *"]
_FENCES = ["```", "```ts", "````", "~~~", "~~~ js", "   ```", "    ```", "  ```", "```a`b", "- ```", "> ```", "\t```"]
_AROUND = ["text", "  text", "- item", "1. one", "1) k", "-\tx", "- - x", "  - y", "> ", ">", "> > z", ">\tq", "", ""]
_HTML = ["<details>", "</details>", "<!--", "-->", "<pre>", "</pre>", "<b>", "<a href='x'>", "\tcode", "\f", "a\r\nb"]
_LINES = st.sampled_from([*_PLAIN, *_FENCES, *_AROUND, *_HTML])


def _by_markdown_it(text: str) -> list[Heading | Fenced]:
    found: list[Heading | Fenced] = []
    tokens = MarkdownIt("commonmark").parse(text)
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            found.append(Heading(int(token.tag[1]), tokens[i + 1].content))
        elif token.type == "fence":
            found.append(Fenced(re.sub("(?m)^\tq", "  q", token.content)))  # it keeps tabs after `>`
    return found


@settings(max_examples=examples(1_000))
@given(st.lists(_LINES, max_size=10), st.sampled_from(["", "\n", "\n\n"]))
@example(["1. one", "", "   ```ts", "   code", "  ```", "   ```"], "\n")
@example(["> ## a.ts", "> ```", "> code", "lazy"], "\n")
def test_it_finds_what_a_parser_of_all_of_markdown_finds(lines: list[str], end: str) -> None:
    # An indented line continues the paragraph of a nested quote; markdown-it ends the quotes there.
    assume(not ("> > z" in lines and {"\t```", "    ```"} & set(lines)))
    text = "\n".join(lines) + end
    assert list(blocks(text)) == _by_markdown_it(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("> > z\n\t```\nFiles\n===", []),
        ("> > z\n    ```\nhead\n---", []),
        ("> > z\n    ```\n</pre>\n  ```", [Fenced("")]),
        ("> ```\n>\tq", [Fenced("  q")]),
    ],
)
def test_it_finds_what_the_reference_parser_finds(text: str, found: list[Heading | Fenced]) -> None:
    """Where markdown-it differs from commonmark.js 0.31, whose answers these are."""
    assert list(blocks(text)) == found


N = 1_250_000  # bytes: what blocked the event loop for a minute
HOSTILE = {
    "opening brackets": "[" * N,
    "links": "[a](" * (N // 4),
    "images": "![" * (N // 2),
    "emphasis": "*a_" * (N // 3),
    "definitions": "[a]:\n" * (N // 5),
    "backticks": " ".join("`" * i for i in range(1_500)),
    "HTML": "<a " * (N // 3),
    "comments": "<!--\n" * (N // 5),
    "an endless tag": "<x" + " " * N,
    "an endless end": "</pre" + " " * N + "x",
    "entities": "&" * N,
    "quotes": ">" * N,
    "lines of quotes": ("> " * 30 + "x\n") * (N // 62),
    "quotes that come and go": (">" * 30 + "\nx\n") * (N // 33),
    "lists": "- " * (N // 2) + "x",
    "lines of lists": "-\n" * (N // 2),
    "deeper and deeper lists": "\n".join(" " * (2 * i) + "- x" for i in range(1_000)),
    "numbers": "1" * N,
    "numbered": "1)\n" * (N // 3),
    "almost a rule": "* " * (N // 2) + "x",
    "a long paragraph, underlined": "a\n" * (N // 2) + "===",
    "a lazy paragraph": "> a\n" + "a\n" * (N // 2),
    "headings": "# x\n" * (N // 4),
    "files": "\n".join(f"## a{i}.ts\n```\n```" for i in range(N // 16)),
    "the same file": "## a.ts\n```\n```\n" * (N // 16),
    "one heading": "## a.ts\n" + "```\n```\n" * (N // 8),
    "closing marks": "## a " + "#" * N,
    "a title of marks": "## " + "*`" * (N // 2) + ":",
    "fences": "```\n" * (N // 4),
    "a fence that almost closes": "`" * N + " x`",
    "line ends": "\n" * N,
    "carriage returns": "\r" * N,
    "tabs": "-\t" * (N // 2),
    "zeros": "\0" * N,
}


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_responses_cost_little(name: str) -> None:
    started = time.process_time()
    extraction = extract(HOSTILE[name])
    assert time.process_time() - started < 8  # one to two seconds at worst; minutes, where it is not linear
    assert len("".join(extraction.notes)) < 10_000


@pytest.mark.full
@pytest.mark.parametrize("name", ["lines of quotes", "files"])
def test_twice_as_much_takes_twice_as_long(name: str) -> None:
    text = HOSTILE[name]
    whole, half = (min(_seconds(part) for _ in range(3)) for part in (text, text[: len(text) // 2]))
    assert whole < 3.5 * half + 0.05


def _seconds(text: str) -> float:
    started = time.process_time()
    extract(text)
    return time.process_time() - started


def test_a_response_that_is_too_long_has_no_files() -> None:
    extraction = extract("## a.ts\n```\nx\n```\n" + "a" * MAX_RESPONSE)
    assert not extraction.files
    assert extraction.notes == ("16,777,234 characters (at most 16,777,216) were not read",)
