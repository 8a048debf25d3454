"""The layout of artifacts. The cases are those of the documentation of upload-artifact and download-artifact v4."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import write_files
from tests.workflows.artifacts import ArtifactError, Artifacts, find_files

TREE = {
    "out/a.txt": "a",
    "out/b.md": "b",
    "out/sub/c.txt": "c",
    "out/.hidden": "h",
    "out/.store/d.txt": "d",
    "other/e.txt": "e",
}


def layout(tmp_path: Path, paths: str, *, hidden: bool = False) -> dict[str, str]:
    """What is in the artifact: a path for each file."""
    workspace = write_files(tmp_path / "work", TREE)
    home = write_files(tmp_path / "home", {"kept/f.txt": "f"})
    files, root = find_files(paths, workspace, home, hidden=hidden)
    return {str(file.relative_to(root)): file.read_text() for file in files}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("out/a.txt", {"a.txt"}),
        ("out", {"a.txt", "b.md", "sub/c.txt"}),
        ("./out/", {"a.txt", "b.md", "sub/c.txt"}),
        ("out/*.txt", {"a.txt"}),
        ("out/*", {"a.txt", "b.md", "sub/c.txt"}),
        ("out/**/*.txt", {"a.txt", "sub/c.txt"}),
        ("**/c.txt", {"out/sub/c.txt"}),
        ("out/?.[mn]d", {"b.md"}),
        ("out\nother", {"out/a.txt", "out/b.md", "out/sub/c.txt", "other/e.txt"}),
        ("out\nout/sub", {"a.txt", "b.md", "sub/c.txt"}),
        ("out\n# a comment\n!out/sub", {"a.txt", "b.md"}),
        ("out\n!out/**/*.txt\nout/sub/c.txt", {"b.md", "sub/c.txt"}),
        ("~/kept", {"f.txt"}),
        ("out/.store", set()),
        ("out/.store/d.txt", {"d.txt"}),
        ("missing", set()),
        ("missing\nout/a.txt", {"out/a.txt"}),
    ],
)
def test_the_root_of_an_artifact(tmp_path: Path, paths: str, expected: set[str]) -> None:
    assert layout(tmp_path, paths).keys() == expected


def test_hidden_files_are_left_out_unless_they_are_wanted(tmp_path: Path) -> None:
    assert layout(tmp_path, "out", hidden=True).keys() == {"a.txt", "b.md", "sub/c.txt", ".hidden", ".store/d.txt"}
    assert layout(tmp_path, "out/.store", hidden=True).keys() == {"d.txt"}


@pytest.fixture
def store(tmp_path: Path) -> Artifacts:
    store = Artifacts(tmp_path / "artifacts")
    source = write_files(tmp_path / "source", {"x.txt": "one", "sub/y.txt": "two"})
    (source / "x.txt").chmod(0o755)
    for name in ("replies-1", "replies-2"):
        store.upload(name, [source / "x.txt"], source)
    store.upload("plan", [source / "sub" / "y.txt"], source)
    return store


def listed(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": "plan"}, {"sub/y.txt"}),
        ({"pattern": "replies-*"}, {"replies-1/x.txt", "replies-2/x.txt"}),
        ({"pattern": "replies-*", "merge": True}, {"x.txt"}),
        ({"pattern": "none-*"}, set()),
        ({}, {"replies-1/x.txt", "replies-2/x.txt", "plan/sub/y.txt"}),
    ],
)
def test_where_downloads_go(store: Artifacts, tmp_path: Path, options: dict[str, str], expected: set[str]) -> None:
    store.download(tmp_path / "into", **options)  # type: ignore[arg-type]
    assert listed(tmp_path / "into") == expected


def test_what_is_not_there_and_what_is_there_already(store: Artifacts, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="not found for name: plans"):
        store.download(tmp_path, name="plans")
    new = write_files(tmp_path / "new", {"x.txt": "new"})
    with pytest.raises(ArtifactError, match="409"):
        store.upload("plan", [new / "x.txt"], new)
    store.upload("plan", [new / "x.txt"], new, overwrite=True)
    store.download(tmp_path / "into", name="plan")
    assert listed(tmp_path / "into") == {"x.txt"}
    with pytest.raises(ArtifactError, match="not valid"):
        store.upload("a/b", [new / "x.txt"], new)


def test_modes_are_lost(store: Artifacts, tmp_path: Path) -> None:
    store.download(tmp_path / "into", name="replies-1")
    assert not (tmp_path / "into" / "x.txt").stat().st_mode & 0o111


NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
FOLDERS = st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map(tuple), st.text("xyz", max_size=4), max_size=6)


@given(FOLDERS, st.booleans())
def test_a_folder_comes_back_as_it_was_but_for_hidden_files(files: dict[tuple[str, ...], str], hidden: bool) -> None:
    tree = {parts: text for parts, text in files.items() if not any(parts[:n] in files for n in range(1, len(parts)))}
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        source = write_files(top / "work" / "out", {"/".join(parts): text for parts, text in tree.items()})
        wanted = {"/".join(p): text for p, text in tree.items() if hidden or not any(n.startswith(".") for n in p)}
        found, root = find_files("out", source.parent, top, hidden=hidden)
        store = Artifacts(top / "store")
        if found:
            store.upload("it", found, root)
            store.download(top / "into", name="it")
        assert {name: (top / "into" / name).read_text() for name in listed(top / "into")} == wanted
