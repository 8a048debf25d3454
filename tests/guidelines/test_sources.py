"""What comments say of rules, and whether their sources say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.guidelines.document import read_guidelines
from convex_evals.guidelines.sources import Note, PackageSource, read_note, source_problems
from convex_evals.suite.prompt import guidelines_sha256

COMMENT = """<!-- evals: 000-a/000-b,
  000-a/001-c
package: convex/src/server/query.ts "the "first" result,
  or null"
package: convex/README.md
page: docs.convex.dev/a, docs.convex.dev/b
example: convex/boats.ts -->"""
SOURCE = """/**
 * Returns the "first" result,
 *
 * or null: 24 * 60.
 */
first(): void; // there is
// no second
"""


def test_a_comment_names_evals_sources_and_the_file_of_an_example() -> None:
    assert read_note(COMMENT) == Note(
        evals=("000-a/000-b", "000-a/001-c"),
        packages=(
            PackageSource("convex/src/server/query.ts", 'the "first" result, or null'),
            PackageSource("convex/README.md", ""),
        ),
        pages=("docs.convex.dev/a", "docs.convex.dev/b"),
        examples=("convex/boats.ts",),
    )
    assert read_note("<!-- evals: none -->") == Note(())
    assert read_note('<!-- package: a "b" -->') is None


def test_sources_change_neither_the_rules_nor_the_hash() -> None:
    bare, cited = "- Do it.\n<!-- evals: 000-a/000-b -->\n", f"- Do it.\n{COMMENT}\n"
    assert guidelines_sha256(bare) == guidelines_sha256(cited)
    [rule] = read_guidelines(cited).rules
    assert (rule.text, rule.evals) == ("- Do it.", ("000-a/000-b", "000-a/001-c"))


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ('package: convex/query.ts "the "first" result, or null: 24 * 60."', None),
        ('package: convex/query.ts "there is no second"', None),
        ("page: docs.convex.dev/a", None),
        ("", "cites no source"),
        ('package: convex/other.ts "x"', "cites convex/other.ts, which is no file of the packages"),
        ('package: ../secret.ts "x"', "cites ../secret.ts, which is no file of the packages"),
        ('package: convex/query.ts "last result"', 'cites convex/query.ts, which does not say "last result"'),
        ("package: convex/query.ts", 'cites convex/query.ts without a text; write: package: PATH "TEXT"'),
        ("page: docs.convex.dev/b", "cites docs.convex.dev/b, which is not in the list of pages"),
    ],
)
def test_each_source_is_looked_up(comment: str, problem: str | None, tmp_path: Path) -> None:
    (tmp_path / "secret.ts").write_text("x", encoding="utf-8")
    (tmp_path / "node_modules" / "convex").mkdir(parents=True)
    (tmp_path / "node_modules" / "convex" / "query.ts").write_text(SOURCE, encoding="utf-8")
    note = read_note(f"<!-- evals: none\n{comment} -->")
    assert note is not None
    found = source_problems([note], tmp_path / "node_modules", {"docs.convex.dev/a"})
    assert found == ([problem] if problem else [])
