"""The files that editors read: each in its format, within its limit, of whole rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from convex_evals import __version__
from convex_evals.errors import UserError
from convex_evals.guidelines.cut import compose, most_that_fit, ranked
from convex_evals.guidelines.document import Guidelines, read_guidelines
from convex_evals.guidelines.editor_files import EDITOR_FILES, TOOLS, SizeLimit
from convex_evals.guidelines.editor_text import BuiltFile, build_files, is_ours
from convex_evals.suite.prompt import guidelines_sha256
from tests.conftest import ROOT

SAMPLE = """# Rules for boats

Where the task says otherwise, the task wins.
<!-- evals: none -->

## Functions

- Declare `args`.
<!-- evals: 000-a/000-b, 000-a/001-c
page: docs.convex.dev/functions, example.org/a_(b) -->
- Return null:
```ts
return null; // <= not undefined
```
<!-- evals: 000-a/000-b
page: docs.convex.dev/functions -->

## Sails

| sail | where |
|---|---|
| jib | ahead |
<!-- evals: none -->

### Of cloth

Fold it.
<!-- evals: 000-a/000-b, 000-a/001-c, 000-a/002-d
page: docs.convex.dev/cloth -->
"""
TITLES = {"docs.convex.dev/functions": "Functions [of all kinds]"}
OWN = read_guidelines((ROOT / "guidelines" / "convex.md").read_text(encoding="utf-8"))
NOTE = re.compile(
    r"Written by convex-evals (\S+) from guidelines with sha256 ([0-9a-f]{64}): (?:all|(\d+) of) (\d+) rules?\."
    r" Checksum [0-9a-f]{8}\."
)


def built(guidelines: Guidelines) -> dict[str, BuiltFile]:
    return {file.path: file for file in build_files(guidelines, "convex", TITLES, TOOLS)}


def parted(text: str) -> tuple[Any, str]:
    """The front matter as YAML, None where there is none, and the Markdown below it."""
    found = re.match(r"---\n(.*?\n)---\n\n(?=\S)", text, re.DOTALL)
    return (yaml.safe_load(found[1]), text[found.end() :]) if found else (None, text)


def headings(markdown: str) -> list[tuple[str, str]]:
    tokens = MarkdownIt("commonmark").parse(markdown)
    return [(token.tag, tokens[i + 1].content) for i, token in enumerate(tokens) if token.type == "heading_open"]


def llms_txt(text: str) -> dict[str, Any]:
    """As llmstxt.org has it: a title, maybe a quoted summary, text without headings, and sections of links."""
    start, *sections = re.split(r"^## *(.+?) *$", text, flags=re.MULTILINE)
    head = re.fullmatch(r"# (?P<title>.+?)\n+(?:> (?P<summary>.+?)\n+)?(?P<info>.*)", start.strip(), re.DOTALL)
    assert head is not None and not re.search("^#", head["info"], re.MULTILINE)
    link = re.compile(r"- \[(?P<title>[^\]]+)\]\((?P<url>[^\s)]+)\)(?:: (?P<notes>.+))?")
    lists: dict[str, list[dict[str, str]]] = {}
    for name, listed in zip(sections[::2], sections[1::2], strict=True):
        found = [link.fullmatch(line) for line in listed.strip().split("\n")]
        lists[name] = [match.groupdict() for match in found if match]
        assert len(lists[name]) == len(found), listed
    return {**head.groupdict(), "sections": lists}


@pytest.mark.parametrize("path", sorted(built(read_guidelines(SAMPLE))))
def test_each_file_is_as_before(path: str, golden: Callable[[str, str], None]) -> None:
    text = built(read_guidelines(SAMPLE))[path].text
    text = re.sub(
        "(?<=Checksum )[0-9a-f]{8}", "########", text.replace(f"convex-evals {__version__} ", "convex-evals V ")
    )
    # Not by its own name: an assistant at work here would follow it.
    golden(f"editors/{PurePosixPath(path).name}.golden", text)


@pytest.mark.parametrize("guidelines", [read_guidelines(SAMPLE), OWN], ids=["sample", "own"])
def test_each_file_is_in_its_format(guidelines: Guidelines) -> None:
    files = built(guidelines)
    globs = "convex/**/*.ts,**/convex/**/*.ts"
    front = {path: parted(file.text)[0] for path, file in files.items()}
    assert front == {
        ".cursor/rules/convex_rules.mdc": {
            "description": "How to write Convex functions, schemas and clients",
            "globs": globs,
            "alwaysApply": False,
        },
        "AGENTS.md": None,
        "CLAUDE.md": None,
        ".github/copilot-instructions.md": None,
        ".windsurf/rules/convex_rules.md": {"trigger": "glob", "globs": globs},
        "llms.txt": None,
        "llms-full.txt": None,
    }
    for file in files.values():
        markdown = parted(file.text)[1]
        assert headings(markdown)[0] == ("h1", guidelines.sections[1].title)
        assert "<!--" not in file.text and file.text.endswith("\n") and not file.text.endswith("\n\n")


@pytest.mark.parametrize("guidelines", [read_guidelines(SAMPLE), OWN], ids=["sample", "own"])
def test_each_file_has_version_hash_and_number_of_rules(guidelines: Guidelines) -> None:
    for file in built(guidelines).values():
        [(version, digest, kept, every)] = NOTE.findall(file.text)
        assert (version, digest) == (__version__, guidelines_sha256(guidelines.text))
        assert int(every) == len(guidelines.rules)
        assert int(kept or every) == len(guidelines.rules) - len(file.left_out)
        assert is_ours(file.text.encode()) and is_ours(file.text.replace("\n", "\r\n").encode())
        assert not is_ours(file.text.encode() + b"More.\n") and not is_ours(file.text[:-2].encode())
    assert not is_ours(b"# My own notes\n")


def test_each_file_of_this_repository_is_within_its_limit() -> None:
    files = built(OWN)
    for file in files.values():
        assert file.kind.limit is None or file.kind.limit.size(file.text) <= file.kind.limit.most
    assert {file.kind.tool for file in files.values() if file.left_out} == {"claude", "windsurf"}


def test_nothing_in_our_rules_is_an_import_of_claude_code() -> None:
    """It reads `@path` as one, but in code."""
    tokens = MarkdownIt("commonmark").parse(built(OWN)["CLAUDE.md"].text)
    texts = [child.content for token in tokens for child in token.children or [] if child.type == "text"]
    assert [text for text in texts if re.search(r"(?:^|\s)@", text)] == []


def test_llms_txt_lists_the_rules_and_the_pages_that_they_cite() -> None:
    found = llms_txt(built(read_guidelines(SAMPLE))["llms.txt"].text)
    assert found["title"] == "Rules for boats" and found["summary"].startswith("Rules for language models")
    assert found["sections"] == {
        "Rules": [{"title": "All rules", "url": "llms-full.txt", "notes": "5 rules, as Markdown"}],
        "Functions": [
            {"title": "Functions (of all kinds)", "url": "https://docs.convex.dev/functions", "notes": "2 rules"},
            {"title": "example.org/a_(b)", "url": "https://example.org/a_%28b%29", "notes": "1 rule"},
        ],
        "Sails › Of cloth": [
            {"title": "docs.convex.dev/cloth", "url": "https://docs.convex.dev/cloth", "notes": "1 rule"}
        ],
    }
    own = llms_txt(built(OWN)["llms.txt"].text)
    assert list(own["sections"])[:2] == ["Rules", "Functions"]
    assert all(
        each["url"].startswith("https://") for name in list(own["sections"])[1:] for each in own["sections"][name]
    )


def test_the_introduction_is_kept_longest_then_what_most_evals_name() -> None:
    assert ranked(read_guidelines(SAMPLE)) == [0, 4, 1, 2, 3]


def test_a_section_without_rules_is_left_out_and_one_with_a_part_is_not() -> None:
    found = read_guidelines(SAMPLE)
    assert headings(compose(found, {0, 1}, "")) == [("h1", "Rules for boats"), ("h2", "Functions")]
    assert headings(compose(found, {4}, "")) == [("h1", "Rules for boats"), ("h2", "Sails"), ("h3", "Of cloth")]


def test_what_a_title_alone_exceeds_is_refused() -> None:
    with pytest.raises(UserError, match=r"windsurf/rules/convex_rules\.md: the guidelines' title alone does not fit"):
        build_files(read_guidelines(f"# {'x' * 13_000}\n\n- A rule.\n"), "convex", {}, ["windsurf"])


def test_characters_are_counted_as_editors_count_them() -> None:
    sizes = [SizeLimit(1, unit, True, "").size("a🦦\n") for unit in ("bytes", "characters", "lines")]
    assert sizes == [6, 4, 1]
    assert {file.limit.unit for file in EDITOR_FILES if file.limit} == {"bytes", "characters", "lines"}


WORDS = st.text("ab é🦦`|", min_size=1, max_size=12)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Guidelines of sections, paragraphs and items with code or tables, each rule with a number of evals."""
    lines = ["# Title\n"] if draw(st.booleans()) else []
    for n in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 3)) == 0:
            lines.append(f"\n{'#' * draw(st.integers(2, 4))} Section {draw(st.integers(0, 3))}\n")
        mark = draw(st.sampled_from(["- ", "", "* ", f"{n}. "]))
        more = ["\n  and so on", "\n```ts\n# code\n\n- more\n```", "\n\n| a | b |\n|---|---|\n| 1 | 2 |", ""]
        note = ", ".join(f"000-a/{i:03}-b" for i in range(draw(st.integers(0, 3)))) or "none"
        comment = draw(st.sampled_from([f"\n<!-- evals: {note} -->", ""]))
        # Right below a paragraph, another one or "2." would be a part of it.
        space = "\n" * draw(st.integers(0 if mark in ("- ", "* ") else 1, 2))
        lines.append(f"{space}{mark}Rule {n}: {draw(WORDS).strip()}.{draw(st.sampled_from(more))}{comment}\n")
    return "".join(lines)


def rules_of(markdown: str) -> list[str]:
    return [rule.text for rule in read_guidelines(markdown).rules if not rule.text.startswith("Written by")]


@given(documents(), st.sampled_from(["bytes", "characters", "lines"]), st.integers(0, 600), st.integers(0, 100))
def test_what_does_not_fit_is_left_out_rule_by_rule(document: str, unit: str, most: int, less: int) -> None:
    found = read_guidelines(document)
    order, note = ranked(found), "Written by us."

    def kept_of(most: int) -> frozenset[int] | None:
        limit = SizeLimit(most, unit, True, "")
        return most_that_fit(order, lambda kept: limit.size(compose(found, kept, note)) <= limit.most)

    kept = kept_of(most)
    bare = SizeLimit(0, unit, True, "").size(compose(found, (), note))
    assert (kept is None) == (bare > most)
    if kept is None:
        return
    text = compose(found, kept, note)
    assert SizeLimit(most, unit, True, "").size(text) <= most, "within the limit"
    assert kept == frozenset(order[: len(kept)]), "the most useful ones"
    if len(kept) < len(order):
        more = compose(found, order[: len(kept) + 1], note)
        assert SizeLimit(most, unit, True, "").size(more) > most, "as many as fit"
    assert rules_of(text) == [found.rules[i].text for i in sorted(kept)], "whole, and in their order"
    assert (kept_of(max(0, most - less)) or frozenset()) <= kept, "a smaller file has no other rules"


@given(documents())
def test_all_rules_are_the_document_without_comments(document: str) -> None:
    found = read_guidelines(document)
    whole = compose(found, range(len(found.rules)), "NOTE")
    assert whole.replace("NOTE", "", 1).split() == found.given.split()
    assert rules_of(whole.replace("NOTE", "", 1)) == [rule.text for rule in found.rules]


@given(st.text(max_size=300) | documents())
def test_any_document_is_built(document: str) -> None:
    try:
        files = build_files(read_guidelines(document), "convex", {}, TOOLS)
    except UserError:
        return
    assert [file.kind for file in files] == list(EDITOR_FILES)
    assert files == build_files(read_guidelines(document), "convex", {}, TOOLS)
