"""Kinds of events of GitHub Copilot CLI, and what is in them."""

from __future__ import annotations

from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.message import Part
from convex_evals.sessions.readers.anthropic_blocks import compact
from convex_evals.sessions.readers.codex_items import TellKind, parts_of
from convex_evals.sessions.readers.values import Data, as_list, as_natural, as_object, as_text

# Pieces of what another event says as a whole.
PIECES = frozenset(
    (
        *("assistant.message_start", "assistant.reasoning_delta", "assistant.server_tool_progress"),
        *("assistant.streaming_delta", "assistant.tool_call_delta", "tool.execution_partial_result"),
        *("tool.execution_progress",),
    )
)
DETAILS = frozenset(
    (
        *("abort", "assistant.fusion_phase_activity", "assistant.fusion_phase_completed"),
        *("assistant.fusion_phase_failed", "assistant.fusion_phase_started", "assistant.idle", "assistant.intent"),
        *("assistant.turn_end", "assistant.turn_retry", "assistant.turn_start", "auto_mode_switch.completed"),
        *("auto_mode_switch.requested", "capabilities.changed", "command.completed", "command.execute"),
        *("command.queued", "commands.changed", "elicitation.completed", "elicitation.requested"),
        *("exit_plan_mode.completed", "exit_plan_mode.requested", "external_tool.completed", "external_tool.requested"),
        *("factory.run_settled", "factory.run_started", "factory.run_updated", "hook.end", "hook.progress"),
        *("hook.start", "mcp.headers_refresh_completed", "mcp.headers_refresh_required", "mcp.oauth_completed"),
        *("mcp.oauth_required", "mcp.prompts.list_changed", "mcp.resources.list_changed", "mcp.tools.list_changed"),
        *("mcp_app.tool_call_complete", "model.call_failure", "model.call_finished", "model.call_start"),
        *("pending_messages.modified", "permission.completed", "permission.requested", "result", "sampling.completed"),
        *("sampling.requested", "session.auto_mode_resolved", "session.auto_tier_switch_failed"),
        *("session.autopilot_objective_changed", "session.background_tasks_changed", "session.binary_asset"),
        *("session.canvas.closed", "session.canvas.opened", "session.canvas.recorded"),
        *("session.canvas.registry_changed", "session.canvas.removed", "session.canvas.unavailable"),
        *("session.compaction_start", "session.completion_receipt", "session.context_changed"),
        *("session.context_cleared", "session.custom_agents_updated", "session.custom_notification", "session.error"),
        *("session.extensions.attachments_pushed", "session.extensions_loaded", "session.fusion_completed"),
        *("session.fusion_resolved", "session.fusion_route_failed", "session.fusion_route_started", "session.idle"),
        *("session.import_legacy", "session.info", "session.managed_settings_enforced"),
        *("session.managed_settings_resolved", "session.mcp_server_needs_reconnect", "session.mcp_server_removed"),
        *("session.mcp_server_status_changed", "session.mcp_servers_loaded", "session.mode_changed"),
        *("session.mode_notice_delivered", "session.model_change", "session.permissions_changed"),
        *("session.plan_changed", "session.remote_steerable_changed", "session.resume", "session.schedule_cancelled"),
        *("session.schedule_created", "session.schedule_rearmed", "session.session_limits_changed", "session.shutdown"),
        *("session.skills_loaded", "session.snapshot_rewind", "session.start", "session.task_complete"),
        *("session.title_changed", "session.todos_changed", "session.tools_updated", "session.truncation"),
        *("session.usage_checkpoint", "session.usage_info", "session.warning", "session.workspace_file_changed"),
        *("session_limits_exhausted.completed", "session_limits_exhausted.requested", "skill.context_delivered_ref"),
        *("skill.invoked_ref", "subagent.completed", "subagent.configured", "subagent.deselected", "subagent.failed"),
        *("subagent.selected", "subagent.started", "tool_search.activated", "ui.ephemeral_query"),
        *("user_input.completed", "user_input.requested"),
    )
)


def request_of(data: Data) -> list[Part] | None:
    """What was asked, with what was attached; None where there is no text."""
    text = data.get("content")
    if not isinstance(text, str):
        return None
    attached = [part for each in as_list(data.get("attachments")) for part in _attachment(as_object(each))]
    return [*([_text(text)] if text else []), *attached]


def is_added(data: Data) -> bool:
    """Whether a request is no person's."""
    return data.get("source") not in (None, "", "user") or data.get("isAutopilotContinuation") is True


def calls_of(data: Data) -> list[tuple[str | None, str, str]]:
    """Ids, names and arguments of the calls that a reply makes."""
    requests = [each for each in as_list(data.get("toolRequests")) if isinstance(each, dict)]
    return [(as_text(each.get("toolCallId")), *call_of(each, "name")) for each in requests]


def call_of(data: Data, key: str) -> tuple[str, str]:
    given = data.get("arguments")
    arguments = given if isinstance(given, str) else compact({} if given is None else given)
    return as_text(data.get(key)) or "tool", arguments


def result_of(data: Data, tell: TellKind) -> tuple[str | list[Part], bool]:
    """What a tool answered, and whether it failed."""
    result, error = data.get("result"), data.get("error")
    given = as_object(result)
    text = as_text(given.get("content")) or as_text(given.get("detailedContent"))
    if text is None and result is not None and not (isinstance(result, dict) and given.get("content") == ""):
        text = result if isinstance(result, str) else compact(result)
    reason = as_text(as_object(error).get("message")) or as_text(error)
    content = "\n".join(each for each in (text, None if text and reason and reason in text else reason) if each)
    images = [each for each in as_list(given.get("contents")) if as_object(each).get("type") == "image"]
    shown = parts_of(images, tell) or []
    return [_text(content), *shown] if shown else content, data.get("success") is False or error is not None


def usage_of(data: Data) -> Usage | None:
    """Tokens of one request. Those read from the cache are part of the input, but where they are more."""
    cached, written = as_natural(data.get("cacheReadTokens")), as_natural(data.get("outputTokens"))
    read = as_natural(data.get("inputTokens"))
    if read < cached:
        read += cached + as_natural(data.get("cacheWriteTokens"))
    if not (read or written):
        return None
    thought = min(as_natural(data.get("reasoningTokens")), written)
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, reasoning_tokens=thought)


def _attachment(given: Data) -> list[Part]:
    mime, data = as_text(given.get("mimeType")), as_text(given.get("data"))
    if mime and data and mime.startswith("image/"):
        return [{"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}}]
    keys = ("path", "filePath", "displayName", "title", "url")
    name = next((text for key in keys if (text := as_text(given.get(key)))), "attachment")
    file: Part = {"type": "file", "file": {"filename": name}}
    if mime and data:
        file["file"]["file_data"] = f"data:{mime};base64,{data}"
    selected = as_text(given.get("text"))
    return [file, *([_text(selected)] if selected else [])]


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def texts(value: Any) -> list[Part]:
    """A text as parts; none where it is empty or no text."""
    text = as_text(value)
    return [_text(text)] if text else []
