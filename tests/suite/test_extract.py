from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.suite.extract import MAX_FILE_BYTES, MAX_FILES, extract, files_problem, path_problem, render_response

names = st.from_regex(r"\A[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,12}[a-zA-Z0-9_]\Z")
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=300)


@given(st.dictionaries(paths, texts.map(lambda t: t if not t or t.endswith("\n") else t + "\n"), min_size=1))
def test_a_rendered_response_is_read_back(files: dict[str, str]) -> None:
    assert dict(extract(render_response(files)).files) == files


@given(st.text())
def test_no_text_crashes(text: str) -> None:
    extract(text)


@given(
    st.lists(
        st.tuples(st.sampled_from(["# Files", "# files:", "## `a.ts`", "## **b/c.ts**", "## ../evil", "text"]), texts)
    )
)
def test_no_accepted_path_leaves_the_folder(parts: list[tuple[str, str]]) -> None:
    files = extract("\n".join(f"{heading}\n```ts\n{body}\n```" for heading, body in parts)).files
    folder = Path("/project")
    for path in files:
        if path_problem(path) is None:
            assert (folder / path).resolve().is_relative_to(folder)


@given(st.text(max_size=60))
def test_any_path_is_refused_or_stays_inside(path: str) -> None:
    if path_problem(path) is None:
        assert (Path("/project") / path).is_relative_to("/project")
        assert ".." not in Path(path).parts


def test_headings_with_markup_and_text_around() -> None:
    response = "Sure!\n\n# Files\n\n## `package.json`\n\n```json\n{}\n```\n\nand\n\n"
    response += "## **convex/a.ts**:\n\n~~~ts\nlet a\n~~~\nBye"
    assert dict(extract(response).files) == {"package.json": "{}\n", "convex/a.ts": "let a\n"}


def test_the_last_of_two_counts_and_is_noted() -> None:
    extraction = extract("# Files\n## a.ts\n```\n1\n```\n## a.ts\n```\n2\n```\n```\n3\n```\n")
    assert dict(extraction.files) == {"a.ts": "2\n"}
    assert [note.split(":")[1].strip()[:11] for note in extraction.notes] == ["given twice", "a second bl"]


def test_blocks_before_the_files_heading_are_no_files() -> None:
    assert dict(extract("## plan.ts\n```\nx\n```\n# Files\n## a.ts\n```\n1\n```\n").files) == {"a.ts": "1\n"}


def test_without_a_files_heading_paths_count() -> None:
    assert dict(extract("## a.ts\n```\n1\n```\n").files) == {"a.ts": "1\n"}


def test_a_long_heading_costs_little() -> None:
    start = time.monotonic()
    extract(f"# Files\n## {'a' * 200_000} b\n```\n1\n```\n")
    assert time.monotonic() - start < 5  # minutes, where a pattern goes back and forth


def test_a_nested_fence_stays_in_its_file() -> None:
    assert dict(extract("# Files\n## a.md\n````md\n```\nx\n```\n````\n").files) == {"a.md": "```\nx\n```\n"}


@pytest.mark.parametrize(
    "path",
    ["../x_evil", "/etc/passwd", "C:/x", "a\\b", "a\0b", "a/../../b", "a//b", "./a", "", "node_modules/x/i.js",
     "a/.git/x",
     "a\nb", "con", "a./b", "x" * 256, "\ud800",
     # What builds, checks and tests a project reads these differently.
     "a.ts?b", "a?x.json/b.ts", "a#b.ts", "a%2eb.ts", "wasm-binary:a.ts", "(disabled):a.ts", "<runtime>", "a*.ts",
     'a".ts', "a|b", "a\u2028b", "a\u200bb", "a\u202eb", "a\x85b"],
)  # fmt: skip
def test_bad_paths_are_refused(path: str) -> None:
    assert path_problem(path)


@pytest.mark.parametrize(
    "path",
    [
        "package.json",
        "convex/_generated/api.js",
        "src/[id].tsx",
        "convex/é.ts",
        ".env.local",
        "a-b_c.d",
        "app/(group)/@slot/[[...all]]/$id.tsx",
        "a b'c,d=e+f&g!h~i^j`k{l}.md",
    ],
)
def test_good_paths_are_not(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "the response has no files"),
        ({"a": "x" * (MAX_FILE_BYTES + 1)}, "a: 1,048,577 bytes (at most 1,048,576)"),
        ({f"{i}.ts": "" for i in range(MAX_FILES + 1)}, "1001 files (at most 1000)"),
        ({f"{i}.ts": "x" * 1_000_000 for i in range(9)}, "9,000,000 bytes in all (at most 8,388,608)"),
        ({"a/b": "", "a": ""}, "path 'a' collides with 'a/b'"),
        ({"a": "", "a/b": ""}, "path 'a/b' collides with 'a'"),
        ({"A.ts": "", "a.ts": ""}, "path 'a.ts' collides with 'A.ts'"),
        ({"/".join(["a"] * 21): ""}, "path '" + "a/" * 20 + "a' is longer than 400 bytes or deeper than 20 folders"),
        ({"../x\x1b": ""}, "path '../x\\x1b' has a control character"),
    ],
)
def test_sets_of_files_that_are_refused(files: dict[str, str], problem: str) -> None:
    assert files_problem(files) == problem
