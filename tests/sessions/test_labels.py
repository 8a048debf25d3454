"""Labels: what is written reviews well, and is read back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.inputs import bounded_yaml
from convex_evals.records.session import Label, SessionStatus
from convex_evals.sessions.labels import _parse_plain, changed, parse_label, read_label, render_label, write_label
from convex_evals.sessions.store import SessionStore
from tests import tier

ID = "ab" * 10
PATH = Path("labels/ab/x.yaml")
_TAGS = st.from_regex(r"[\w][\w .:/+@#-]{0,20}", fullmatch=True).filter(lambda tag: tag == tag.strip())
_TEXT = st.text(st.characters(codec="utf-8"), max_size=60) | st.lists(
    st.sampled_from(
        ["", " ", "  x", "- a", "key: value", "# no", "|", "text", "\t", "evalReady: true", "x ", "\x85", "\u2028"]
    ),
    max_size=6,
).map("\n".join)
LABELS = st.builds(
    Label,
    evalReady=st.booleans(),
    evalStatus=st.sampled_from(SessionStatus),
    evalTags=st.lists(_TAGS, max_size=4).map(tuple),
    evalNotes=_TEXT,
    expectedOutput=st.none() | _TEXT.filter(bool),
    reviewedAt=st.none() | st.integers(1, 10**15),
)


def test_a_label_reads_well() -> None:
    label = Label(
        evalReady=True,
        evalStatus=SessionStatus.GOLDEN,
        evalTags=("debugging", "auth"),
        evalNotes="Right at once.\n",
        expectedOutput="Use this:\n\n```ts\nconst a = 1;\n```\n",
        reviewedAt=1764115200000,
    )
    text = render_label(label)
    assert text == (
        "evalReady: true\n\nevalStatus: golden\n\nevalTags:\n- auth\n- debugging\n\n"
        "expectedOutput: |\n  Use this:\n\n  ```ts\n  const a = 1;\n  ```\n\n"
        "evalNotes: |\n  Right at once.\n\nreviewedAt: 1764115200000\n"
    )
    assert _parse_plain(text) == label


@given(LABELS)
@settings(max_examples=tier.examples(500))
def test_what_is_written_is_read_back(label: Label) -> None:
    text = render_label(label)
    assert parse_label(text, PATH) == label
    assert Label.model_validate(bounded_yaml.load(text)) == label


@given(LABELS, st.randoms())
@settings(max_examples=tier.examples(500))
def test_the_quick_reader_never_contradicts_yaml(label: Label, random: object) -> None:
    lines = render_label(label).split("\n")
    at = random.randrange(len(lines))  # type: ignore[attr-defined]
    lines[at : at + 1] = random.choice([[], [""], [lines[at], ""], [lines[at][1:]], ["  " + lines[at]]])  # type: ignore[attr-defined]
    text = "\n".join(lines)
    quick = _parse_plain(text)
    if quick is not None:
        assert quick == Label.model_validate(bounded_yaml.load(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("evalStatus: perfect\n", "x.yaml:1: evalStatus: input should be 'golden'"),
        ("evalReady: true\n\nevalStaus: golden\n", "x.yaml:3: unknown key 'evalStaus'; did you mean 'evalStatus'?"),
        ("evalTags:\n- 'a\\b'\n", "is not a tag"),
        ("evalReady: [\n", "not valid YAML"),
    ],
)
def test_mistakes_name_the_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_label(text, PATH)
    assert message in str(caught.value)


def test_the_time_of_the_review_changes_with_the_status_alone(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    assert read_label(store, ID) == Label()
    first = changed(Label(), 5, evalStatus=SessionStatus.NEEDS_REVIEW)
    assert first.reviewedAt == 5
    second = changed(first, 6, evalNotes="x", evalStatus=SessionStatus.NEEDS_REVIEW)
    assert second.reviewedAt == 5
    third = changed(second, 7, evalStatus=SessionStatus.CORRECT)
    assert third.reviewedAt == 7 and third.evalNotes == "x"
    write_label(store, ID, third)
    assert read_label(store, ID) == third
    assert (tmp_path / "labels/ab" / f"{ID}.yaml").is_file()


def test_a_label_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with pytest.raises(UserError, match="make its texts shorter"):
        write_label(store, ID, Label(expectedOutput="x" * 300_000))
    assert not (tmp_path / "labels").exists()
