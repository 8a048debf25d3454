"""Items as OpenAI's Responses API has them: texts, images, reasoning, calls of tools and their results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from convex_evals.inputs.bounded_json import decode
from convex_evals.records.generation import Usage
from convex_evals.sessions.lines import LIMITS
from convex_evals.sessions.message import Part
from convex_evals.sessions.readers.anthropic_blocks import compact, joined
from convex_evals.sessions.readers.values import Data, as_list, as_natural, as_object, as_text

TellKind = Callable[[str], None]
_TEXTS = frozenset(("input_text", "output_text", "text", "summary_text", "reasoning_text", "Text"))
_OPAQUE = frozenset(("encrypted_content",))
_IMAGE_TAG = re.compile(r"\s*</?image(?: name=[^<>]*)?>\s*")  # Codex sets them around an image
# What Codex adds under the role of the user: a text that is in one of these tags, or begins with one of these words.
_TAGS = (
    r"environment_context|environments|user_instructions|instructions|turn_aborted|subagent_notification|subagents"
    r"|skills?|skills_instructions|user_shell_command|user_shell_cmd|user_action|hook_prompt|codex_internal_context"
    r"|goal_context|user_goal_update|recommended_plugins|plugins(?:_instructions)?|apps_instructions|external_[\w-]+"
    r"|permissions[ _]instructions|collaboration_mode|model_switch|personality_spec|token_budget\w*|rollout_budget"
    r"|context_window\w*|multi_agent_mode|realtime_conversation|heartbeat|warning|agent_message_board\w*"
)
_ADDED = re.compile(
    rf"\s*(?:<(?P<tag>{_TAGS})\b[^<>]*>.*</(?P=tag)>\s*\Z"
    r"|# AGENTS\.md instructions\b"
    r"|Warning: (?:The maximum number of unified exec processes|apply_patch was requested via|Your account was flagged)"
    r"|Another language model started to solve this problem"
    r"|Here is a list of plugins that are available but not installed)",
    re.DOTALL | re.IGNORECASE,
)
# What an editor adds in front of a request.
_EDITOR = re.compile(r"\s*# Context from my IDE setup:.*?\n## My request for Codex:[ \t]*\n?", re.DOTALL)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.MULTILINE)
_HEAD = 400


def parts_of(content: Any, tell: TellKind) -> list[Part] | None:
    """The content of a message or of a result as OpenAI's chat format has it; None where it is neither text nor list.

    Parts of other kinds are told, and stay as they are.
    """
    if isinstance(content, str):
        return [_text(content)] if content else []
    if not isinstance(content, list):
        return None
    has_image = any(as_object(each).get("type") == "input_image" for each in content)
    parts: list[Part] = []
    for each in content:
        part = _part(each)
        if part is None:
            tell(str(as_object(each).get("type")) if isinstance(each, dict) else type(each).__name__)
            part = each if isinstance(each, dict) else _text(compact(each))
        text = part.get("text")
        if part and text != "" and not (has_image and isinstance(text, str) and _IMAGE_TAG.fullmatch(text)):
            parts.append(part)
    return parts


def divided(parts: list[Part]) -> tuple[list[Part], list[Part]]:
    """What Codex or an editor added under the role of the user, and what the person said."""
    added: list[Part] = []
    said: list[Part] = []
    for part in parts:
        text = part.get("text")
        if not isinstance(text, str):
            said.append(part)
        elif _ADDED.match(text):
            added.append(part)
        elif match := _EDITOR.match(text):
            added.append(_text(match[0].strip()))
            said += [_text(rest)] if (rest := text[match.end() :]) else []
        else:
            said.append(part)
    return added, said


def texts_of(content: Any) -> list[str]:
    """The texts in the content of a message, or in what is shown of reasoning."""
    if isinstance(content, str):
        return [content] if content else []
    found = [each if isinstance(each, str) else as_object(each).get("text") for each in as_list(content)]
    return [text for text in found if isinstance(text, str) and text]


def thinking_of(item: Data) -> list[str]:
    """The reasoning itself where a model shows it, else its summary."""
    return texts_of(item.get("content")) or texts_of(item.get("summary"))


def call_of(item: Data) -> tuple[str | None, str, str] | None:
    """Id, name and arguments of the call that an item is; None where it is none."""
    kind, call_id = item.get("type"), as_text(item.get("call_id")) or as_text(item.get("id"))
    if kind in ("function_call", "custom_tool_call"):
        given = item.get("arguments" if kind == "function_call" else "input")
        return call_id, _tool_name(item), given if isinstance(given, str) else compact({} if given is None else given)
    if kind == "local_shell_call":
        return call_id, "local_shell", compact(as_object(item.get("action")))
    if kind == "web_search_call":
        return call_id, "web_search", compact(as_object(item.get("action")))
    if kind == "tool_search_call":
        given = item.get("arguments")
        return call_id, "tool_search", given if isinstance(given, str) else compact({} if given is None else given)
    if kind == "image_generation_call":
        return call_id, "image_generation", compact({"prompt": item.get("revised_prompt")})
    return None


def result_of(item: Data, tell: TellKind) -> tuple[str | list[Part], bool] | None:
    """What a tool answered, and whether it failed; None where the item is no result."""
    kind = item.get("type")
    if kind == "tool_search_output":
        return compact(item.get("tools")), item.get("status") == "failed"
    if kind == "image_generation_call":
        image = as_text(item.get("result"))
        return [_image(f"data:image/png;base64,{image}")] if image else "", item.get("status") == "failed"
    if kind not in ("function_call_output", "custom_tool_call_output"):
        return None
    output, failed = item.get("output"), False
    if isinstance(output, dict) and ("content" in output or "content_items" in output):  # of older versions
        failed = output.get("success") is False
        output = output.get("content_items") or output.get("content")
    parts = parts_of(output, tell)
    content = joined(parts) if parts is not None else "" if output is None else compact(output)
    return content, failed or _has_failed(content)


def agent_of(output: str | list[Part]) -> str | None:
    """The thread that a call started, as its result names it."""
    return as_text(_document(output).get("agent_id"))


def usage_of(tokens: Any) -> Usage | None:
    """Tokens of one request, or of all; input has those that were cached, and output those of reasoning."""
    given = as_object(tokens)
    read, written = as_natural(given.get("input_tokens")), as_natural(given.get("output_tokens"))
    if not (read or written):
        return None
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=min(as_natural(given.get("cached_input_tokens")), read),
        reasoning_tokens=min(as_natural(given.get("reasoning_output_tokens")), written),
    )


def difference(all_now: Usage, all_before: Usage | None) -> Usage | None:
    """What was used since; all of it where that is no continuation."""
    if all_before is None or all_now.input_tokens < all_before.input_tokens:
        return all_now
    read, written = all_now.input_tokens - all_before.input_tokens, all_now.output_tokens - all_before.output_tokens
    cached = all_now.cached_tokens - all_before.cached_tokens
    reasoning = all_now.reasoning_tokens - all_before.reasoning_tokens
    tokens = {"input_tokens": read, "output_tokens": written}
    return usage_of({**tokens, "cached_input_tokens": cached, "reasoning_output_tokens": reasoning})


def _part(block: Any) -> Part | None:
    if isinstance(block, str):
        return _text(block)
    given = as_object(block)
    kind = str(given.get("type"))
    if kind in _OPAQUE:
        return {}
    if kind in _TEXTS and isinstance(given.get("text"), str):
        return _text(given["text"])
    if kind == "refusal" and isinstance(given.get("refusal"), str):
        return _text(given["refusal"])
    if kind in ("input_image", "output_image", "image"):
        mime, data = as_text(given.get("mimeType")), as_text(given.get("data"))
        url = as_text(given.get("image_url")) or (f"data:{mime};base64,{data}" if mime and data else None)
        return _image(url) if url else None
    return None


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _image(url: str) -> Part:
    return {"type": "image_url", "image_url": {"url": url}}


def _tool_name(item: Data) -> str:
    name, space = as_text(item.get("name")) or "tool", as_text(item.get("namespace"))
    if not space:
        return name
    return f"{space}{name}" if space.endswith("__") else f"{space}__{name}"


def _has_failed(content: str | list[Part]) -> bool:
    """Whether a command did, by its exit code: that of a document, or in the lines before the output."""
    code = as_object(_document(content).get("metadata")).get("exit_code")
    if isinstance(code, int):
        return code != 0
    head = content[:_HEAD] if isinstance(content, str) else ""
    found = _EXIT_CODE.search(head.partition("\nOutput:")[0])
    return found is not None and int(found[1]) != 0


def _document(content: str | list[Part]) -> Data:
    if not isinstance(content, str) or not content.lstrip().startswith("{"):
        return {}
    try:
        return as_object(decode(content, LIMITS))
    except ValueError:
        return {}
