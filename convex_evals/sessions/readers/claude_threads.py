"""One thread of a Claude Code session, the main one or a sub-agent's: its messages, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from convex_evals.sessions.conversation import DETAIL, REPEATED, Conversation, RecordCount
from convex_evals.sessions.message import text_of
from convex_evals.sessions.readers.anthropic_blocks import answered, called, divided, parsed
from convex_evals.sessions.readers.anthropic_messages import AnthropicMessages, usage_of
from convex_evals.sessions.readers.claude_tree import TreeNode, chosen
from convex_evals.sessions.readers.log_records import LogRecord, Teller, count_fate, count_faults, on_path
from convex_evals.sessions.readers.values import Data, as_cost, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "claude-code"
_SYNTHETIC = "<synthetic>"  # a reply that Claude Code wrote itself, as on an error of the API
_DETAILS = frozenset(
    (
        *("agent-color", "agent-name", "agent-setting", "ai-title", "artifact-autoreact-ledger"),
        *("artifact-comment-monitor", "atis-latch", "attribution-snapshot", "bridge-session", "content-replacement"),
        *("cost-state", "custom-title", "ended", "file-history-delta", "file-history-snapshot", "isolation-latch"),
        *("last-prompt", "mode", "permission-mode", "pr-link", "progress", "relocated", "result"),
        *("started", "summary", "tag", "worktree-state"),
    )
)
# A record under the role of the user that has one of these is not the person's.
_ADDED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "turnCompanion")


@dataclass(slots=True)
class ClaudeThread:
    conversation: Conversation
    started: dict[str, str] = field(default_factory=dict)  # ids of agents, by the calls whose results name them


def session_of(records: Sequence[LogRecord]) -> str | None:
    """The session that wrote the records; the last one, if some were taken over from another."""
    ids = [record.text_at("sessionId") for record in records]
    return next((each for each in reversed(ids) if each), None)


def thread(records: Sequence[LogRecord], native_id: str, teller: Teller, parent: str | None = None) -> ClaudeThread:
    """The conversation of `records`, which are of one thread, in order."""
    return _Reader(records, teller).thread(native_id, parent)


class _Reader:
    def __init__(self, records: Sequence[LogRecord], teller: Teller) -> None:
        self._raw = [record.text for record in records]
        self._teller = teller
        self._messages = AnthropicMessages()
        self._count = RecordCount()
        self._started: dict[str, str] = {}
        self._attached = Counter(
            _said(_attachment(record).get("prompt"))
            for record in records
            if _attachment(record).get("type") == "queued_command"
        )
        self._records = count_faults(records, self._count)
        self._nodes = _nodes(self._records)
        self._path, self._branches = chosen(list(self._nodes.values()))

    def thread(self, native_id: str, parent: str | None) -> ClaudeThread:
        for record in on_path(self._records, self._path, _id_of, self._count):
            self._take(record)
        found = Conversation(NAME, native_id, self._messages.all(), self._raw, self._count, parent=parent)
        found.branches = self._branches
        found.title = self._title()
        found.folder, found.git_branch, found.tool_version = map(self._first, ("cwd", "gitBranch", "version"))
        return ClaudeThread(found, self._started)

    def _take(self, record: LogRecord) -> None:
        fate: str | None = DETAIL
        if record.kind == "assistant":
            fate = self._take_reply(record)
        elif record.kind == "user":
            fate = self._take_user(record)
        elif record.kind == "system":
            fate = self._take_system(record)
        elif record.kind == "attachment":
            fate = self._take_attachment(record)
        elif record.kind == "queue-operation":
            fate = self._take_queued(record)
        elif record.kind not in _DETAILS:
            self._count.count_unknown(record.kind)
            return
        count_fate(record, fate, self._count)

    def _take_reply(self, record: LogRecord) -> str | None:
        message = as_object(record.value.get("message"))
        model = as_text(message.get("model"))
        is_model = model != _SYNTHETIC
        return self._messages.assistant(
            message.get("content"),
            timestamp(record.value.get("timestamp")),
            lambda kind: self._teller.block(record, kind),
            _reply(record),
            model if is_model else None,
            usage_of(message.get("usage")) if is_model else None,
            as_cost(record.value.get("costUSD")),
        )

    def _take_user(self, record: LogRecord) -> str | None:
        content = as_object(record.value.get("message")).get("content")
        agent = as_text(as_object(record.value.get("toolUseResult")).get("agentId"))
        if agent:
            self._started.update(dict.fromkeys(answered(content), agent))
        return self._user(record, content, _is_added(record.value))

    def _take_system(self, record: LogRecord) -> str | None:
        """What Claude Code said in the terminal, or recorded of itself; a command that was given to it, too."""
        content, subtype = record.value.get("content"), record.value.get("subtype")
        if subtype == "local_command" and content:
            return self._user(record, content, True)
        if subtype == "compact_boundary" or not isinstance(content, str):
            return DETAIL
        time = timestamp(record.value.get("timestamp"))
        return self._messages.system(content, time, lambda kind: self._teller.block(record, kind))

    def _take_attachment(self, record: LogRecord) -> str | None:
        """The system prompt, or a request that was made while the agent worked; others tell what it looked at."""
        attachment = _attachment(record)
        if attachment.get("type") == "prompt_snapshot":
            time = timestamp(record.value.get("timestamp"))
            prompt = attachment.get("systemPrompt", "")
            return self._messages.system_prompt(prompt, time, lambda kind: self._teller.block(record, kind))
        if attachment.get("type") != "queued_command":
            return DETAIL
        is_request = attachment.get("commandMode", "prompt") == "prompt" and not _is_added(attachment)
        return self._user(record, attachment.get("prompt"), not is_request)

    def _take_queued(self, record: LogRecord) -> str | None:
        """A request that was made while the agent worked, as versions record it that have no attachment for it."""
        content = record.value.get("content")
        if not _is_delivered(record):
            return DETAIL  # put into the queue; or taken out of it to be a record of its own, or to be edited
        said = _said(content)
        if self._attached[said] > 0:
            self._attached[said] -= 1
            return REPEATED
        return self._user(record, content, False)

    def _user(self, record: LogRecord, content: object, injected: bool) -> str | None:
        time = timestamp(record.value.get("timestamp"))
        return self._messages.user(content, time, lambda kind: self._teller.block(record, kind), injected)

    def _first(self, key: str) -> str | None:
        return next((text for record in self._records if (text := record.text_at(key))), None)

    def _title(self) -> str | None:
        """The person's title, else the model's; a summary counts if it is of a record of this conversation."""
        for kind, key in (("custom-title", "customTitle"), ("ai-title", "aiTitle")):
            titles = [title for each in self._records if each.kind == kind and (title := each.text_at(key))]
            if titles:
                return titles[-1]
        summaries = [each for each in self._records if each.kind == "summary" and each.text_at("summary")]
        for leaves in (self._path, self._nodes):
            for summary in reversed(summaries):
                if summary.text_at("leafUuid") in leaves:
                    return summary.text_at("summary")
        return None


def _nodes(records: Sequence[LogRecord]) -> dict[str, TreeNode]:
    nodes: dict[str, TreeNode] = {}
    for record in records:
        uuid = _id_of(record)
        if uuid and uuid not in nodes:
            # A boundary of compaction has no parent, but a logical one. Where that was kept it is written again, below
            # the boundary, and no way back.
            logical = record.text_at("logicalParentUuid")
            nodes[uuid] = _node(uuid, (record.text_at("parentUuid"), logical if logical in nodes else None), record)
    return nodes


def _node(uuid: str, parents: Sequence[str | None], record: LogRecord) -> TreeNode:
    named = tuple(filter(None, parents))
    content = as_object(record.value.get("message")).get("content")
    if record.kind == "assistant":
        return TreeNode(
            uuid, named, is_said=True, reply=_reply(record), calls=called(content), answers=answered(content)
        )
    answers = answered(content) if record.kind == "user" else ()
    found = parsed(content) if record.kind == "user" and not answers and not _is_added(record.value) else None
    is_request = found is not None and bool(divided(found.parts)[1])
    return TreeNode(uuid, named, is_start=is_request, is_said=is_request, answers=answers)


def _id_of(record: LogRecord) -> str | None:
    """Of a request from the queue, which has no id, the place: it belongs to the path of the record before it."""
    return record.text_at("uuid") or (f"{record.file}:{record.number}" if _is_delivered(record) else None)


def _is_delivered(record: LogRecord) -> bool:
    is_removed = record.kind == "queue-operation" and record.value.get("operation") == "remove"
    return is_removed and bool(record.value.get("content"))


def _attachment(record: LogRecord) -> Data:
    return as_object(record.value.get("attachment"))


def _said(content: object) -> str:
    found = parsed(content)
    return text_of(found.parts) if found else ""


def _reply(record: LogRecord) -> Hashable:
    message: Data = as_object(record.value.get("message"))
    key = (as_text(message.get("id")), record.text_at("requestId"))
    return key if any(key) else (record.file, record.number)


def _is_added(value: Data) -> bool:
    """Whether a record or an attachment under the role of the user is not the person's."""
    if any(value.get(key) is True for key in _ADDED) or value.get("promptSource") == "system":
        return True
    origin = as_object(value.get("origin")).get("kind")
    return origin is not None and origin != "human"
