"""Images and the like in a record, as base64: nothing can be found in them, so they are not kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from convex_evals.sessions.secrets.spans import not_scanned

_DATA_URL = re.compile(
    r"data:(?P<type>[\w.+-]{1,60}/[\w.+-]{1,80})?(?:;[\w.=\"-]{1,80}){0,4}?;base64,(?P<data>(?:[\w+/=-]|%[0-9A-F]{2}|\\/){16,}+)",
    re.ASCII | re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]{1,20}")
_TYPE_KEYS = ("media_type", "mediaType", "mimeType", "mime_type", "type", "format")
_DATA_KEYS = ("data", "base64", "b64_json", "file_data", "blob", "bytes", "image_data")
_SHORTEST = 64


def without_data_urls(text: str) -> tuple[str, int]:
    """`text` with the data of each `data:` URL left out, and how many there were."""
    if ";base64," not in text:
        return text, 0
    return _DATA_URL.subn(lambda match: _left_out(match["type"] or "", match["data"]), text)


def binary_fields(value: Mapping[Any, Any]) -> dict[str, str]:
    """The fields of an object that hold base64 data, with what is written instead.

    As Anthropic has it (`{"type": "base64", "media_type": ..., "data": ...}`), Gemini (`inlineData`), OpenAI, MCP and
    Claude Code.
    """
    kinds = [value[key] for key in _TYPE_KEYS if isinstance(value.get(key), str)]
    is_declared = "base64" in kinds or value.get("encoding") == "base64"
    found: dict[str, str] = {}
    for key in _DATA_KEYS:
        data = value.get(key)
        if not isinstance(data, str) or not data or data.startswith("[NOT SCANNED: "):
            continue
        is_base64 = len(data) >= _SHORTEST and _BASE64.fullmatch(data) is not None
        if (is_declared and key == "data") or (is_base64 and (kinds or key != "data")):
            found[key] = _left_out(next((kind for kind in kinds if "/" in kind), ""), data)
    return found


def _left_out(kind: str, data: str) -> str:
    size = len(data) * 3 // 4 - (len(data) - len(data.rstrip("=")))
    return not_scanned(f"{kind.lower() if _TYPE.fullmatch(kind.lower()) else 'data'}, {size:,} bytes")
