"""Kinds of records in Codex's rollouts, and those of older versions in the form of newer ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.sessions.readers.log_records import LogRecord
from convex_evals.sessions.readers.values import Data, as_object, as_text
from convex_evals.sessions.times import timestamp

RECORD_DETAILS = frozenset(
    (
        *("turn_context", "inter_agent_communication_metadata", "world_state", "token_usage_record"),
        *("retained_context", "security_risk_score", "realtime_item", "state"),
    )
)
ITEM_DETAILS = frozenset(
    (
        *("additional_tools", "compaction", "compaction_summary", "compaction_trigger", "context_compaction"),
        *("ghost_snapshot", "other"),
    )
)
EVENT_DETAILS = frozenset(
    (
        *("agent_reasoning_section_break", "apply_patch_approval_request", "background_event"),
        *("collab_agent_interaction_begin", "collab_agent_interaction_end", "collab_agent_spawn_begin"),
        *("collab_agent_spawn_end", "collab_close_begin", "collab_close_end", "collab_resume_begin"),
        *("collab_resume_end", "collab_waiting_begin", "collab_waiting_end", "context_compacted", "deprecation_notice"),
        *("dynamic_tool_call_request", "dynamic_tool_call_response", "elicitation_request", "entered_review_mode"),
        *("error", "exec_approval_request", "exec_command_begin", "exec_command_end", "exited_review_mode"),
        *("guardian_assessment", "guardian_warning", "hook_completed", "hook_started", "image_generation_begin"),
        *("image_generation_end", "item_completed", "item_started", "mcp_startup_complete", "mcp_startup_update"),
        *("mcp_tool_call_begin", "mcp_tool_call_end", "model_reroute", "model_verification", "patch_apply_begin"),
        *("patch_apply_end", "patch_apply_updated", "plan_update", "realtime_conversation_closed"),
        *("realtime_conversation_list_voices_response", "realtime_conversation_realtime", "realtime_conversation_sdp"),
        *("realtime_conversation_started", "request_permissions", "request_user_input", "safety_buffering"),
        *("session_configured", "shutdown_complete", "stream_error", "sub_agent_activity", "task_complete"),
        *("task_started", "terminal_interaction", "thread_goal_updated", "thread_settings_applied", "turn_aborted"),
        *("turn_complete", "turn_diff", "turn_moderation_metadata", "turn_started", "undo_completed", "undo_started"),
        *("view_image_tool_call", "warning", "web_search_begin", "web_search_end"),
    )
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_LEGACY_ITEMS = frozenset(
    (
        *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call"),
        *("custom_tool_call_output", "local_shell_call", "web_search_call"),
    )
)


@dataclass(frozen=True, slots=True)
class CodexEntry:
    """What a record is, whichever version wrote it."""

    kind: str
    name: str  # as it is counted where it is unknown
    payload: Data
    time: str | None


def entry_of(record: LogRecord) -> CodexEntry:
    value = record.value
    payload, time = value.get("payload"), timestamp(value.get("timestamp"))
    if isinstance(payload, dict):
        detail = payload.get("role") if payload.get("type") == "message" else None
        kinds = [record.kind, payload.get("type"), detail]
        return CodexEntry(record.kind, ":".join(str(each) for each in kinds if each is not None), payload, time)
    if "payload" in value:
        return CodexEntry("", f"{record.kind} without content", {}, time)
    return _legacy(record, time)


def _legacy(record: LogRecord, time: str | None) -> CodexEntry:
    """A record of the first versions: an item itself, or what is known of the session."""
    value, kind = record.value, record.kind
    if "record_type" in value:
        return CodexEntry(str(value["record_type"]), str(value["record_type"]), value, time)
    if kind in _LEGACY_ITEMS:
        return CodexEntry("response_item", kind, value, time)
    if "type" not in value and "id" in value and ("timestamp" in value or "instructions" in value):
        return CodexEntry("session_meta", "session_meta", value, time)
    return CodexEntry("", "(no object)" if record.fault else kind, value, time)


def instructions_of(meta: Data) -> tuple[str | None, str | None]:
    """Codex's own instructions, and those of the project, which newer versions do not have here."""
    given = meta.get("base_instructions")
    return as_text(given) or as_text(as_object(given).get("text")), as_text(meta.get("instructions"))


def is_copied(record: LogRecord, meta: Data) -> bool:
    """Whether a record of a sub-agent is its parent's, whose conversation has it, too."""
    start, ordinal = meta.get("subagent_history_start_ordinal"), record.value.get("ordinal")
    return isinstance(start, int) and isinstance(ordinal, int) and ordinal < start


def places_in(ranges: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Each place in half-open ranges once; a range that begins before another may end after it."""
    end = 0
    for first, last in sorted(ranges):
        yield from range(max(first, end), last)
        end = max(end, last)


def native_id(meta: Data, file: Path) -> str:
    """The thread's id; that of the session is one for all of its agents."""
    given = (as_text(meta.get(key)) for key in ("id", "thread_id", "session_id"))
    in_name = _UUID.search(file.stem)
    return next((text for text in given if text), None) or (in_name[0] if in_name else file.stem)


def parent_of(meta: Data) -> str | None:
    """The thread whose agent started this one. A person's fork of another was started by none."""
    source = as_object(meta.get("source")).get("subagent")
    spawned = as_object(as_object(source).get("thread_spawn"))
    named = as_text(meta.get("parent_thread_id")) or as_text(spawned.get("parent_thread_id"))
    is_agent = source is not None or "subagent" in (meta.get("source"), meta.get("thread_source"))
    return named or (as_text(meta.get("forked_from_id")) if is_agent else None)
