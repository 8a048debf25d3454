"""One place of a report is written, and every other byte stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.reports.human_sections import SectionKey, parse, with_place
from tests.conftest import ROOT

REPORT = (ROOT / "tests/golden/report.md").read_text(encoding="utf-8")
PLACES = sorted(parse(REPORT, "report").places, key=str)
WORDS = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]))
MARKS = ["<!-- human: notes -->", "<!-- /human -->", "<!-- HUMAN", "/human -->", "a <!--human: notes --> b"]


@given(st.sampled_from(PLACES), WORDS, st.booleans())
def test_the_words_are_there_and_all_else_is_as_it_was(place: SectionKey, words: str, crlf: bool) -> None:
    report = REPORT.replace("\n", "\r\n") if crlf else REPORT
    try:
        whole = with_place(report, place, words, "report")
    except UserError:
        assert "human" in words.lower()
        return
    before, after = parse(report, "report").places, parse(whole, "report").places
    lines = "".join(f"{line}\n" for line in words.split("\n")) if words else ""
    assert after[place].text == (lines.replace("\n", "\r\n") if crlf else lines)
    assert {key: own.text for key, own in after.items() if key != place} == {
        key: own.text for key, own in before.items() if key != place
    }
    assert len(whole) - len(after[place].text) == len(report) - len(before[place].text)
    assert with_place(whole, place, words, "report") == whole


@pytest.mark.parametrize("mark", MARKS)
def test_words_that_look_like_marks_are_refused(mark: str) -> None:
    with pytest.raises(UserError, match=r"write it otherwise|broken mark|begins inside|appears twice|edited outside"):
        with_place(REPORT, PLACES[0], f"before\n{mark}\nafter", "report")


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="not there any more"):
        with_place(REPORT, SectionKey("notes", "000-x/000-y", "tests:nothing"), "words", "report")
