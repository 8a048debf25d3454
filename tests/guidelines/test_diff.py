"""Guidelines as rules, and what changed between two texts of them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from convex_evals.guidelines.diff import ChangeKind, GuidelineDiff, RuleChange, diff_guidelines
from convex_evals.guidelines.diff_words import word_diff
from convex_evals.guidelines.document import read_guidelines
from convex_evals.models.tokens import TokenCounter, offline_counter, usual_tokens
from convex_evals.suite.prompt import without_comments
from tests.conftest import ROOT
from tests.tier import examples

TEXT = """# Rules

Say what the task says.

## Queries

- Read through an index.
- Paginate with the validator:
```ts
const a = 1;
```
<!-- evals: 002-queries/002-pagination, 002-queries/000-index_range -->
- Never collect a table.
  Not even a small one.
<!-- evals: 002-queries/000-index_range
     002-queries/004-aggregation -->

| kind | may |
|---|---|
| query | read |

## Mutations

1. Write in one transaction.
2. Throw to undo.

---

A paragraph of its own.
"""

# Whatever Markdown and comments are made of, in any order.
BLOCKS = [
    "# A\n",
    "## B\n",
    "### C\n",
    "- one\n",
    "* two\n",
    "1. three\n",
    "  more\n",
    "    code\n",
    "```\n",
    "~~~ts\n",
]
REST = ["> quote\n", "| a |\n|---|\n| b |\n", "text", " ", "\n", "\n\n", "\r\n", "\r", "\t", "---\n", "===\n", "\x00"]
ODD = ["<!-- evals: a/b, c/d -->", "<!-- note -->\n", "<!--", "-->", "<div>\n", "[x]: y\n", "\u2028", "é", "- - - a\n"]
PIECES = st.sampled_from([*BLOCKS, *REST, *ODD])
TEXTS = st.lists(PIECES, max_size=25).map("".join)


def changes(diff: GuidelineDiff) -> list[tuple[str, str, bool]]:
    return [(c.kind.value, c.rule.headline, c.moved) for c in diff.changes]


def edited(*edits: tuple[str, str]) -> GuidelineDiff:
    after = TEXT
    for before, now in edits:
        assert before in after
        after = after.replace(before, now, 1)
    return diff_guidelines(TEXT, after)


def test_rules_and_what_they_name() -> None:
    found = read_guidelines(TEXT)
    rules = [(found.section_of(r).name, r.headline, r.line, [e[-9:] for e in r.evals]) for r in found.rules]
    assert rules == [
        ("Rules", "Say what the task says.", 3, []),
        ("Queries", "Read through an index.", 7, []),
        ("Queries", "Paginate with the validator:", 8, ["agination", "dex_range"]),
        ("Queries", "Never collect a table.", 13, ["dex_range", "gregation"]),
        ("Queries", "| kind | may |", 18, []),
        ("Mutations", "Write in one transaction.", 24, []),
        ("Mutations", "Throw to undo.", 25, []),
        ("Mutations", "A paragraph of its own.", 29, []),
    ]
    assert found.rules[2].text.endswith("const a = 1;\n```") and "---" not in found.rules[6].text
    assert found.misplaced == ()


def test_a_comment_without_a_rule_is_told() -> None:
    found = read_guidelines("<!-- evals: a/b -->\n## A\n\n<!-- evals: c/d -->\n- one\n## B\n<!-- evals: e/f -->\n")
    assert [(m.line, m.evals) for m in found.misplaced] == [(1, ("a/b",)), (4, ("c/d",)), (7, ("e/f",))]
    assert [r.evals for r in found.rules] == [()]
    assert read_guidelines("<!-- evals: -->").misplaced[0].evals == ()


def test_own_guidelines_have_a_rule_for_each_comment() -> None:
    found = read_guidelines((ROOT / "guidelines" / "convex.md").read_text(encoding="utf-8"))
    assert found.misplaced == () and [r.line for r in found.rules if not r.notes] == []


@given(TEXTS)
@example("\u2028\n\n---\n")
@settings(max_examples=examples(400))
def test_rules_and_sections_are_a_partition_of_what_models_get(text: str) -> None:
    found = read_guidelines(text)
    assert found.source == without_comments(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    places = [part.line for part in found.rules] + [part.line for part in found.sections]
    assert all(1 <= line <= lines for line in places)
    assert all(r.text and r.text in r.source for r in found.rules if r.source.strip())
    assert [r.section for r in found.rules] == sorted(r.section for r in found.rules)


@given(TEXTS, TEXTS)
@settings(max_examples=examples(200))
def test_differences_are_of_the_texts(before: str, after: str) -> None:
    assert diff_guidelines(before, before).changes == () == diff_guidelines(before, before).sections
    diff = diff_guidelines(before, after)
    gone = sorted(c.before.text for c in diff.changes if c.before)
    came = sorted(c.after.text for c in diff.changes if c.after)
    kept = sorted(r.text for r in diff.before.rules)
    for text in gone:
        kept.remove(text)
    assert sorted([*kept, *came]) == sorted(r.text for r in diff.after.rules)
    back = diff_guidelines(after, before)
    assert back.count(ChangeKind.ADDED) - back.count(ChangeKind.REMOVED) == diff.count(ChangeKind.REMOVED) - diff.count(
        ChangeKind.ADDED
    )


@given(TEXTS, TEXTS)
@settings(max_examples=examples(200))
def test_words_tell_both_texts(before: str, after: str) -> None:
    spans = word_diff(before, after)
    assert "".join(s.text for s in spans if s.kind != "removed") == after
    assert "".join(s.text for s in spans if s.kind != "added").split() == before.split()


def test_kinds_of_changes() -> None:
    assert changes(edited(("Read through", "Always read through"))) == [
        ("changed", "Always read through an index.", False)
    ]
    assert changes(edited(("- Read through an index.\n", ""))) == [("removed", "Read through an index.", False)]
    assert changes(edited(("2. Throw", "2. Return early.\n3. Throw"))) == [
        ("added", "Return early.", False),
        ("changed", "Throw to undo.", False),
    ]
    elsewhere = edited(("- Read through an index.\n", ""), ("1. Write", "- Read through an index.\n\n1. Write"))
    assert changes(elsewhere) == [("moved", "Read through an index.", True)]
    assert elsewhere.section(elsewhere.changes[0]) == "Mutations"
    within = edited(("- Read through an index.\n", ""), ("- Never", "- Read through an index.\n- Never"))
    assert changes(within) == [("moved", "Read through an index.", True)]
    both = edited(("- Read through an index.\n", ""), ("1. Write", "- Read only through a good index.\n\n1. Write"))
    assert changes(both) == [("changed", "Read only through a good index.", True)]
    other = edited(("- Read through an index.\n", "- Quite another matter altogether here.\n"))
    assert changes(other) == [
        ("removed", "Read through an index.", False),
        ("added", "Quite another matter altogether here.", False),
    ]


def test_a_section_with_another_title_is_the_same_section() -> None:
    renamed = edited(("## Queries", "## Reading"))
    assert renamed.changes == () and not renamed.same_for_models
    assert [(s.kind, s.before, s.after) for s in renamed.sections] == [(ChangeKind.CHANGED, "Queries", "Reading")]
    first = edited(("# Rules", "# Other rules"))
    assert first.changes == () and [(s.before, s.after) for s in first.sections] == [("Rules", "Other rules")]
    gone = edited(("## Mutations\n", ""))
    assert [(s.kind, s.before) for s in gone.sections] == [(ChangeKind.REMOVED, "Mutations")]
    queries, mutations = TEXT.index("## Queries"), TEXT.index("## Mutations")
    swapped = diff_guidelines(TEXT, TEXT[:queries] + TEXT[mutations:] + "\n" + TEXT[queries:mutations])
    assert swapped.changes == () and [s.kind for s in swapped.sections] == [ChangeKind.MOVED]


def test_comments_are_no_change_for_models() -> None:
    comments = edited(("002-queries/002-pagination, ", ""), ("## Mutations", "<!-- note -->\n## Mutations"))
    assert comments.same_for_models and comments.comments_changed and comments.changes == ()
    assert not edited().comments_changed and edited().same_for_models
    blank = edited(("## Mutations\n", "## Mutations\n\n"))
    assert blank.changes == () and not blank.same_for_models


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("Read an index.", "Read the index.", "Read [-an-]{+the+} index."),
        ("a b c d", "a x y d", "a [-b c-]{+x y+} d"),
        ("wrapped here\n  and there", "wrapped\n  here and there", "wrapped\n  here and there"),
        ("```\na\n  b\n```", "```\na\nb\n```", "```\na\n[-  -]b\n```"),
        ("", "new", "{+new+}"),
        ("v.id(x)", "v.id(y)", "v.id([-x-]{+y+})"),
    ],
)
def test_word_by_word(before: str, after: str, shown: str) -> None:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    assert "".join(marks[s.kind].format(s.text) for s in word_diff(before, after)) == shown


def test_many_changed_rules_are_still_paired() -> None:
    before = "".join(f"- Rule {n}: {'words of it ' * 20}\n" for n in range(900))
    diff = diff_guidelines(before, before.replace(": words", ": terms"))
    assert {c.kind for c in diff.changes} == {ChangeKind.CHANGED} and len(diff.changes) == 900
    assert all(c.before and c.after and c.before.line == c.after.line for c in diff.changes)


def test_long_texts_are_compared_by_lines() -> None:
    before = "".join(f"line {n} of many words\n" for n in range(1_000))
    after = before.replace("line 1 of", "line 1 with").replace("line 998 of", "line 998 with")
    changed = [s.text for s in word_diff(before, after) if s.kind != "same"]
    assert changed == [f"line {n} {word} many words\n" for n in (1, 998) for word in ("of", "with")]
    # One place is compared by words all the same.
    spans = word_diff(before, before.replace("line 500 of", "line 500 with"))
    assert [s.text for s in spans if s.kind != "same"] == ["of", "with"]
    assert "".join(s.text for s in spans if s.kind != "added") == before


def test_a_rule_that_names_other_evals_keeps_both() -> None:
    change = edited(("Never collect a table.", "Never collect a large table."), ("002-queries/004-aggregation", "x/y"))
    rule: RuleChange = change.changes[0]
    assert rule.evals == ("002-queries/000-index_range", "002-queries/004-aggregation", "x/y")


def test_tokens_are_counted_without_a_network() -> None:
    counter = offline_counter()
    assert counter.label == "tokens (by Claude 2's tokenizer)" and counter.count("Read through an index.", "") == [5, 0]
    assert TokenCounter(None).count("eight by") == [2] == [usual_tokens("eight by")]
    assert TokenCounter(None).label == "tokens (about: bytes / 4)"
