"""Content as Gemini's API has it: text, or parts, of which each has the name of its kind for a key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from convex_evals.sessions.message import Part
from convex_evals.sessions.readers.values import Data, as_list, as_object, as_text

USER, GEMINI, INFO, WARNING, ERROR = "user", "gemini", "info", "warning", "error"
# Keys beside that of the kind, or of a part that shows nothing.
_BESIDE = frozenset(("thought", "thoughtSignature", "videoMetadata", "mediaResolution"))


@dataclass(slots=True)
class GeminiContent:
    """The content of one message, by what it is, each in order."""

    parts: list[Part] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[Data] = field(default_factory=list)
    results: list[Data] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # kinds of parts, which are among the parts as they are


def parsed(content: Any) -> GeminiContent:
    found = GeminiContent()
    for part in content if isinstance(content, list) else (content,):
        _take(found, part)
    return found


def joined(parts: list[Part]) -> str | list[Part]:
    """Parts as the content of a message: text where there is nothing else.

    What Gemini CLI puts together brings its line ends along; a part of another's is a line of its own.
    """
    text = ""
    for part in parts:
        said = part.get("text") if part.get("type") == "text" else None
        if not isinstance(said, str):
            return parts
        has_end = not text or text.endswith("\n") or said.startswith("\n")
        text += said if has_end else f"\n{said}"
    return text


def _take(found: GeminiContent, part: Any) -> None:
    if isinstance(part, str):
        found.parts += [_text(part)] if part else []
    elif isinstance(part, dict):
        _take_object(found, part)
    elif part is not None:
        found.unknown.append(type(part).__name__)
        found.parts.append(_text(compact(part)))


def _take_object(found: GeminiContent, part: Data) -> None:
    text = part.get("text")
    if isinstance(text, str):
        if part.get("thought") is True:
            found.thinking += [text] if text.strip() else []
        elif text:
            found.parts.append(_text(text))
    elif isinstance(part.get("functionCall"), dict):
        found.calls.append(part["functionCall"])
    elif isinstance(part.get("functionResponse"), dict):
        found.results.append(part["functionResponse"])
    elif (known := _part(part)) is not None:
        found.parts.append(known)
    elif kinds := sorted(part.keys() - _BESIDE):
        kind = as_text(part.get("type")) or kinds[0]
        found.unknown.append(kind)
        found.parts.append({**part, "type": kind})


def _part(part: Data) -> Part | None:
    """An image, a file, or code that the model ran, as OpenAI's chat format has it; None where it is none of them."""
    data, file = as_object(part.get("inlineData")), as_object(part.get("fileData"))
    if as_text(data.get("data")):
        mime = as_text(data.get("mimeType")) or "application/octet-stream"
        return _file(mime, f"data:{mime};base64,{data['data']}", as_text(data.get("displayName")))
    if uri := as_text(file.get("fileUri")):
        return _file(as_text(file.get("mimeType")) or "", uri, as_text(file.get("displayName")))
    code, outcome = as_object(part.get("executableCode")), as_object(part.get("codeExecutionResult"))
    if isinstance(code.get("code"), str):
        return _text(f"```{(as_text(code.get('language')) or '').lower()}\n{code['code']}\n```")
    return _text(f"```\n{outcome['output']}\n```") if isinstance(outcome.get("output"), str) else None


def _file(mime: str, url: str, name: str | None) -> Part:
    if mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    is_data = url.startswith("data:")
    return {
        "type": "file",
        "file": {"filename": name or (mime if is_data else url), **({"file_data": url} if is_data else {})},
    }


def calls_of(content: GeminiContent, recorded: Sequence[Any]) -> list[Data]:
    """The calls of a message: as they were recorded, and those that only the content has."""
    calls = [call for call in recorded if isinstance(call, dict)]
    ids = {call["id"] for call in calls if isinstance(call.get("id"), str)}
    known = [(call.get("name"), call.get("args")) for call in calls]
    for call in content.calls:
        name = as_text(call.get("id"))
        if name not in ids if name else (call.get("name"), call.get("args")) not in known:
            calls.append(call)
    return calls


def result_of(recorded: Any, call: str) -> GeminiContent:
    """What answered a call, of the answers to all that were made at once."""
    content = parsed(recorded)
    own = [result for result in content.results if result.get("id") == call]
    results = own or [result for result in content.results if not as_text(result.get("id"))]
    found = GeminiContent(unknown=content.unknown)
    for result in results:
        inside = response(result)
        found.parts += inside.parts
        found.unknown += inside.unknown
    if len(content.results) <= 1 or not results:
        found.parts += content.parts
    return found


def response(result: Data) -> GeminiContent:
    """What a function responded: its output or error, and files beside it."""
    data = result.get("response")
    said = data
    if isinstance(data, dict):
        said = next((data[key] for key in ("output", "error") if data.get(key) is not None), data or None)
    found = parsed(as_list(result.get("parts")))
    text = said if isinstance(said, str) else "" if said is None else compact(said)
    found.parts[:0] = [_text(text)] if text else []
    return found


def compact(value: Any) -> str:
    """A value as JSON, without what need not be there."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text(text: str) -> Part:
    return {"type": "text", "text": text}
