"""Aider's histories: who said what, and what its own lines tell of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.sessions.conversation import Conversation
from convex_evals.sessions.message import ASSISTANT, SYSTEM, USER
from convex_evals.sessions.readers import aider
from convex_evals.sessions.readers.aider import NAME, READER

SAMPLE = Path(__file__).parent / "samples" / "aider" / "history.md"
START = "# aider chat started at 2025-05-01 10:00:00"


def read(folder: Path, text: str) -> list[Conversation]:
    file = folder / NAME
    file.write_text(text, encoding="utf-8", newline="")
    return read_file(file)


def read_file(file: Path, expected: tuple[str, ...] = ()) -> list[Conversation]:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    found = list(READER.read(file, lambda line: problems.append(line)))
    assert [part for part, line in zip(expected, problems, strict=True) if part in line] == list(expected)
    for conversation in found:
        assert conversation.records.read == len(conversation.raw)
        assert all(conversation.records.fates.values())
    return found


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def test_a_history_is_read() -> None:
    first, restarted, last = read_file(SAMPLE)
    assert [role for role, _ in said(first)] == [
        *(SYSTEM, USER, SYSTEM, USER, ASSISTANT, SYSTEM, USER, ASSISTANT),
    ]
    assert said(first)[3] == (USER, "add a query by email\n\n#### keep this heading")
    assert first.tool_version == "0.82.1"
    assert first.started_at == "2025-05-01T10:00:00.000Z"
    assert first.messages[4].model == "anthropic/claude-3-7-sonnet-20250219"
    assert restarted.messages == []
    assert said(last) == [(SYSTEM, "Model: gpt-4o with whole edit format"), (USER, "hi"), (ASSISTANT, "Hello!")]
    assert len({each.native_id for each in (first, restarted, last)}) == 3


def test_all_lines_are_kept_as_they_were() -> None:
    lines = [line for conversation in read_file(SAMPLE) for line in conversation.raw]
    # The empty line before the first start is of no conversation.
    assert lines == SAMPLE.read_text().split("\n")[1:-1]


def test_text_of_a_reply_that_looks_like_a_mark_stays_in_it() -> None:
    text = said(read_file(SAMPLE)[0])[4][1]
    for line in ("#### Steps", "> As the docs say", "# Not a start", "#### not a request", "> not an output"):
        assert f"\n{line}\n" in text
    assert text.startswith("I'll add an index.") and text.endswith("```")


def test_tokens_and_costs_belong_to_the_reply_before() -> None:
    conversation = read_file(SAMPLE)[0]
    usages = [(each.usage.input_tokens, each.usage.output_tokens) for each in conversation.messages if each.usage]
    assert usages == [(12_000, 1_200), (20_936, 345)]
    assert [each.cost_usd for each in conversation.messages if each.cost_usd] == [0.05, 0.0042]
    assert conversation.messages[-1].usage and conversation.messages[-1].usage.cached_tokens == 20_000
    assert conversation.cost_usd == 0.06
    assert not any("Tokens:" in text or "Cost:" in text for _, text in said(conversation))


def test_reasoning_is_no_part_of_the_text() -> None:
    reply = read_file(SAMPLE)[0].messages[-1]
    assert (reply.thinking, reply.content) == ("They ask for the reason.", "Because it is fast.")


def test_without_the_blanks_at_ends_of_lines_prefixes_decide(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"{START}\n\n#### hi\n\nHello\n\n> Tokens: 10 sent, 5 received.\n#### more\n\nWell\n")
    assert said(found) == [(USER, "hi"), (ASSISTANT, "Hello"), (USER, "more"), (ASSISTANT, "Well")]
    assert found.messages[1].usage is not None


def test_an_output_of_several_lines_after_another_is_aiders(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"{START}\n\n#### hi  \n\nHello\n\n> Failed:  \n> # 1 block\nrest  \n")
    assert said(found)[2] == (SYSTEM, "Failed:\n# 1 block")


@pytest.mark.parametrize(
    ("report", "tokens"),
    [
        ("Tokens: 4.5k sent, 12 received.", (4500, 12, 0)),
        ("Tokens: 12,345 sent, 1.2k received. Cost: $0.01 request, $0.03 session.", (12_345, 1200, 0)),
        ("Tokens: 20k sent, 8k cache hit, 10 received.", (20_000, 10, 8000)),
        ("Tokens: 1..2k sent, , received.", None),
        ("Tokens: ..k sent, 3 received.", None),
    ],
)
def test_reports_of_tokens(tmp_path: Path, report: str, tokens: tuple[int, int, int] | None) -> None:
    (found,) = read(tmp_path, f"{START}\n\n#### hi  \n\nHello\n\n> {report}  \n")
    usage = found.messages[1].usage
    numbers = usage and (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    assert numbers == tokens or (tokens is None and (usage is None or usage.input_tokens == 0))


def test_tokens_without_a_reply_are_nobodys(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"{START}\n\n#### a  \n\nHello\n\n#### b  \n> Tokens: 10 sent, 5 received.  \n")
    assert [message.usage for message in found.messages] == [None, None, None]


def test_requests_with_an_empty_line_between_are_two(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"{START}\n\n#### /clear  \n\n#### hi  \n")
    assert said(found) == [(USER, "/clear"), (USER, "hi")]


def test_the_model_that_was_changed_to_wrote_what_follows(tmp_path: Path) -> None:
    text = "> Models: old with diff edit format, weak model x  \n\n#### a  \n\nA\n\n#### /model new  \n"
    (found,) = read(tmp_path, f"{START}\n\n{text}> Model: new with whole edit format  \n\n#### b  \n\nB\n")
    assert [message.model for message in found.messages if message.role == ASSISTANT] == ["old", "new"]


def test_ids_stay_when_the_file_grows_or_moves(tmp_path: Path) -> None:
    before = [each.native_id for each in read_file(SAMPLE)]
    grown = SAMPLE.read_text() + f"\n#### and  \n\nmore\n\n{START}\n\n#### again  \n"
    after = [each.native_id for each in read(tmp_path, grown)]
    assert after[:3] == before
    assert len(set(after)) == 4


def test_a_start_in_the_midst_of_text_is_none(tmp_path: Path) -> None:
    assert len(read(tmp_path, f"{START}\n\n#### hi  \n\nIt says\n{START}\n")) == 1


def test_what_stands_before_the_first_start_is_read(tmp_path: Path) -> None:
    first, second = read(tmp_path, f"#### lost  \n\nYes\n\n{START}\n\n#### hi  \n")
    assert said(first) == [(USER, "lost"), (ASSISTANT, "Yes")]
    assert first.started_at is None and second.started_at


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"{START}\r\n\r\n#### a\u2028b  \r\n\r\nc\x0bd\r\n")
    assert said(found) == [(USER, "a\u2028b"), (ASSISTANT, "c\x0bd")]


def test_a_line_that_is_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aider, "LONGEST_LINE", 60)
    file = tmp_path / NAME
    file.write_text(f"{START}\n\n#### hi  \n{'x' * 200}\nend\n{'y' * 60}\n")
    (found,) = read_file(file, (f"{file}:4: longer than 60 bytes; left out",))
    assert said(found) == [(USER, "hi"), (ASSISTANT, "end\n" + "y" * 60)]
    assert found.records.fates["unreadable"] == 1


def test_a_file_that_is_too_large_or_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aider, "LARGEST_FILE", 10)
    assert read_file(SAMPLE, ("larger than 10 bytes",)) == []
    assert read_file(tmp_path / "none.md", ("cannot be read",)) == []


def test_files_are_found_by_name(tmp_path: Path) -> None:
    for folder in ("", "b", "a/c", "node_modules/x", ".git", ".hidden/y"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / NAME).write_text("x")
        (tmp_path / folder / "README.md").write_text("x")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / NAME).symlink_to(tmp_path / NAME)
    found = [str(file.relative_to(tmp_path)) for file in READER.files(tmp_path)]
    assert found == [NAME, f"a/c/{NAME}", f"b/{NAME}"]
    assert list(READER.files(tmp_path / "b" / "README.md")) == [tmp_path / "b" / "README.md"]
    assert list(READER.files(tmp_path / "none")) == []
    assert READER.places(tmp_path) == (tmp_path / NAME,)


def test_the_folder_is_that_of_a_history_in_its_place(tmp_path: Path) -> None:
    assert read(tmp_path, f"{START}\n\n#### hi  \n")[0].folder == str(tmp_path)
    assert read_file(SAMPLE)[0].folder is None


_LINES = st.sampled_from(
    [
        *(
            "",
            START,
            "#### a  ",
            "#### b",
            "> out  ",
            "> out",
            "text",
            "```",
            "# heading",
            "####",
            ">",
            ">  ",
            "\u2028",
        ),
        "> Tokens: 1k sent, 2 received. Cost: $0.1 message, $0.2 session.  ",
        *("> Tokens: 1 sent, 2 cache write, 3 cache hit, 4 received.", "Cost: $0.1 message, $0.2 session.  "),
        *(
            "> Model: m with diff edit format  ",
            "<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>",
            "#### <blank>  ",
        ),
    ]
) | st.text(max_size=20)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_LINES, max_size=25))
def test_any_lines_are_read_and_counted(tmp_path: Path, lines: list[str]) -> None:
    text = "\n".join(lines).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    found = read(tmp_path, text)
    assert len({each.native_id for each in found}) == len(found)
    for message in (message for each in found for message in each.messages):
        assert message.role in (USER, ASSISTANT, SYSTEM)
        assert message.content or message.thinking
