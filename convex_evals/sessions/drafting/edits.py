"""What agents did to files, read from the calls of their tools and from the blocks of their replies.

Tools are told by the arguments that they take, which agents share, rather than by the names that they have: a path with
a content, a path with an old text and a new one, a patch, a command of a shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convex_evals.sessions.arguments import COMMANDS, PATHS, arguments_of
from convex_evals.sessions.drafting.patches import patches_in
from convex_evals.sessions.drafting.shell import is_check, shell_edits, shown_file
from convex_evals.sessions.drafting.steps import Edit, EditStep, Replace, Seen, Unreplayable, Write, text_of
from convex_evals.sessions.drafting.written import edits_of_text, is_elided
from convex_evals.sessions.message import ASSISTANT, TOOL, Message, ToolCall
from convex_evals.text import without_enclosed

_CONTENTS = ("content", "contents", "file_text")
_REPLACED = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("search", "replace"),
)
_WRITING = re.compile(r"write|create|edit|replace|patch|update|insert|save", re.IGNORECASE)
_READING = re.compile(r"read|view|open|cat", re.IGNORECASE)
# Arguments with which only a part of a file is read.
_PARTIAL = frozenset(("offset", "limit", "view_range", "start_line", "end_line", "startLine", "endLine", "pages"))
_NUMBERED = re.compile(r" *\d+(?:→|\t|\| ?|: ?)")
_CUT = re.compile(
    r"\(File has more lines|content has been truncated|(?:tokens|lines|chars|characters) (?:truncated|omitted)"
    r"|\[\.\.\. omitted|\(Output capped|<truncated>",
    re.IGNORECASE,
)
_END_OF_FILE = re.compile(r"\n\(End of file[^\n]*\)\s*\Z")
_NOTICE = "<system-reminder>", "</system-reminder>"


def steps(messages: Sequence[Message]) -> Iterator[EditStep]:
    """What happened to files, in order. Calls that failed did nothing."""
    answers = {each.tool_call_id: each for each in messages if each.role == TOOL and each.tool_call_id}
    for number, message in enumerate(messages, 1):
        if message.role != ASSISTANT:
            continue
        found = [edit for call in message.tool_calls for edit in _of_call(call, answers.get(call.id))]
        for edit in found or edits_of_text(message.text):
            yield EditStep(number, edit)


def _of_call(call: ToolCall, answer: Message | None) -> Iterator[Edit]:
    if answer is not None and answer.is_error:
        return
    given, is_object = arguments_of(call.arguments)
    patches = list(patches_in(given))
    if patches:
        yield from patches
        return
    if not is_object:
        return
    path = _first(given, PATHS)
    command = _command(given)
    if command is not None and path is None:
        yield from shell_edits(command)
        shown = shown_file(command)
        if shown is not None and answer is not None:
            yield from _seen(shown[0], _output_of(answer.text), shown[1])
    elif path is not None and _READING.search(call.name) and not _WRITING.search(call.name):
        if answer is not None and not _PARTIAL & given.keys():
            yield from _seen(path, answer.text)
    elif path is not None and _WRITING.search(call.name):
        yield from _of_writing(path, given, call.name)


def _of_writing(path: str, given: Mapping[str, Any], tool: str) -> Iterator[Edit]:
    several = given.get("edits")
    changes = [each for each in several if isinstance(each, dict)] if isinstance(several, list) else [given]
    replaced = [found for each in changes if (found := _replacement(path, each))]
    # Tools that have several commands take the text of a new file with `create`.
    content = _first(given, _CONTENTS) if given.get("command", "create") == "create" else None
    whole = given.get("code_edit")
    if replaced:
        yield from replaced
    elif content is not None:
        yield Write(path, content)
    elif isinstance(whole, str) and not is_elided(whole):
        yield Write(path, whole)
    elif given.get("command") != "view":
        yield Unreplayable(path, tool)


def _replacement(path: str, given: Mapping[str, Any]) -> Edit | None:
    for old_key, new_key in _REPLACED:
        old, new = given.get(old_key), given.get(new_key)
        if isinstance(old, str) and isinstance(new, str):
            everywhere = any(given.get(key) is True for key in ("replace_all", "replaceAll"))
            several = given.get("expected_replacements")
            is_all = everywhere or (isinstance(several, int) and several > 1)
            return Replace(path, old, new, is_all) if old else Write(path, new)
    return None


def _command(given: Mapping[str, Any]) -> str | None:
    for key in COMMANDS:
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return str(value[-1]) if value[0].rpartition("/")[2] in ("bash", "sh", "zsh") else " ".join(value)
    return None


def _first(given: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((given[key] for key in keys if isinstance(given.get(key), str)), None)


def _output_of(text: str) -> str:
    """What a command printed, without what Codex says of the process."""
    return text.partition("\nOutput:\n")[2] if text.startswith(("Chunk ID:", "Exit code:")) else text


def _seen(path: str, shown: str, most_lines: int | None = None) -> Iterator[Edit]:
    """The file as it was shown, unless a part of it was left out."""
    lines = _lines_of(shown)
    if not _CUT.search(shown) and (most_lines is None or len(lines) < most_lines):
        yield Seen(path, text_of(lines))


def _lines_of(shown: str) -> list[str]:
    """The lines of a file, without what agents put around them: their numbers, tags, notices."""
    text = _without_notices(shown).strip("\n")
    for tag in ("content", "file"):
        inside = text.partition(f"<{tag}>\n")[2]
        if text.startswith(("<path>", "<file>")) and f"\n</{tag}>" in inside:
            text = _END_OF_FILE.sub("", inside.rpartition(f"\n</{tag}>")[0]).strip("\n")
            break
    lines = text.split("\n")
    matches = [_NUMBERED.match(line) for line in lines]
    if all(matches):
        lines = [line[found.end() :] for line, found in zip(lines, matches, strict=True) if found]
    return lines


def _without_notices(text: str) -> str:
    *before, last = without_enclosed(text, *_NOTICE)
    return "\n".join([*(part.rstrip("\n") for part in before), last.lstrip("\n")]) if before else text


def checks_of(messages: Sequence[Message]) -> list[tuple[int, str, bool]]:
    """The commands that looked at what was made: number of the message, command, and whether it failed."""
    failed = {message.tool_call_id for message in messages if message.role == TOOL and message.is_error}
    found = []
    for number, message in enumerate(messages, 1):
        for call in message.tool_calls:
            command = _command(arguments_of(call.arguments)[0])
            if command is not None and is_check(command):
                found.append((number, command, call.id in failed))
    return found
