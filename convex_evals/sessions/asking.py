"""Sessions to be asked again: the conversation up to the last request, and the reply that others are compared with.

No tools are offered to the model that is asked. What agents called, and what came of it, is told as text: a call is
`NAME(ARGUMENTS)` in the assistant's message, its result a message of the user's. Messages of one side that follow each
other are joined, since most providers want the sides to take turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records.session import SessionStatus
from convex_evals.sessions.exchanges import last_turn
from convex_evals.sessions.exporting import labelled
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message, Part, usual_role
from convex_evals.sessions.store import SESSIONS, SessionStore
from convex_evals.suite.asked import REPLY_NAME, AskedEval
from convex_evals.suite.prompt import Prompt


@dataclass(frozen=True)
class AskedSession:
    """A session as a run asks about it."""

    session_id: str
    prompt: Prompt
    reply: str  # of the session's own model; empty where there was none
    wanted: str | None = None  # what a person expects
    status: SessionStatus = SessionStatus.NEEDS_REVIEW
    left_out: int = 0  # images and other parts that are not text

    @property
    def expected(self) -> str:
        """What a person expected, or else what the session's own model replied."""
        return self.reply if self.wanted is None else self.wanted

    @property
    def trusted(self) -> str | None:
        """The expected reply; None where it is the session's own, and nobody has accepted it."""
        accepted = self.wanted is not None or self.status in (SessionStatus.GOLDEN, SessionStatus.CORRECT)
        return self.expected if accepted else None

    @property
    def is_refused(self) -> bool:
        """Whether others are compared with a reply that people found wrong."""
        return self.wanted is None and self.status is SessionStatus.INCORRECT

    @property
    def id(self) -> str:
        """As an eval's: `sessions/ID`."""
        return f"{SESSIONS}/{self.session_id}"

    @property
    def task(self) -> str:
        """The conversation as one text, for people and for hashing."""
        turns = [(SYSTEM, self.prompt.system), *self.prompt.earlier, (USER, self.prompt.user)]
        return "\n\n".join(f"## {role.capitalize()}\n\n{text}" for role, text in turns if text) + "\n"

    def expected_files(self) -> Mapping[str, str]:
        """The reply that others are compared with, as a file."""
        return {REPLY_NAME: self.expected}

    def reference_reply(self) -> str:
        """The reply that others are compared with."""
        return self.expected

    def given(self, guidelines: str | None) -> Prompt:
        """Return the messages with `guidelines` behind the session's own system message."""
        system = "\n\n".join(filter(None, (self.prompt.system, guidelines)))
        return replace(self.prompt, system=system)


def asked_session(labelled: LabelledSession) -> AskedSession:
    """Raises `UserError` where there is no request, or nothing to compare a reply with."""
    session_id, messages = labelled.session.id, list(labelled.read_messages())
    turn = last_turn(messages)
    if turn is None or not turn.request.strip():
        raise UserError(f"session {session_id}: no person asked anything in it")
    wanted = labelled.label.expectedOutput
    if not (turn.reply if wanted is None else wanted).strip():
        raise UserError(
            f"session {session_id}: its last request was not answered in words; "
            f"`cli sessions label {session_id[:8]} --expected FILE` says what the reply should be"
        )
    asked = messages[: turn.end]
    system = "\n\n".join(message.text for message in asked if usual_role(message) == SYSTEM and message.text.strip())
    *earlier, (_, request) = _joined(_turns(asked))
    left_out = sum(not _is_text(part) for message in asked for part in _parts(message))
    prompt = Prompt(system, request, tuple(earlier))
    return AskedSession(session_id, prompt, turn.reply, wanted, labelled.label.evalStatus, left_out)


@dataclass(frozen=True)
class AskedSessions:
    """Sessions as they are here, by the ids that runs have of them."""

    root: Path

    def find(self, eval_id: str) -> AskedSession | None:
        """Return None where the session is gone, or can no longer be asked."""
        store = SessionStore(self.root)
        try:
            (found,) = labelled(store, [session_id_of(eval_id)])
            return asked_session(found)
        except UserError:
            return None

    def asked(self, eval_id: str) -> AskedEval:
        """Return what a run asks about, and what it expects."""
        found = self.find(eval_id)
        return AskedEval(found.task, found.expected_files()) if found else AskedEval()


def session_items(root: Path) -> list[str]:
    """Return the ids, as evals have them, of all sessions below `root`."""
    return [f"{SESSIONS}/{session_id}" for session_id in SessionStore(root).ids()]


def session_id_of(eval_id: str) -> str:
    """Return the id of the session that is asked about as `eval_id`."""
    return eval_id.rpartition("/")[2]


def _parts(message: Message) -> Sequence[Part]:
    return message.content if isinstance(message.content, list) else ()


def _is_text(part: Part) -> bool:
    return isinstance(part.get("text"), str)


def _turns(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """The role and the text of each message that is not the system's."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    for message in messages:
        role, text = usual_role(message), message.text_with_calls
        if role == TOOL and text.strip():
            name = names.get(message.tool_call_id or "") or message.name or "a tool"
            yield USER, f"{'Error' if message.is_error else 'Result'} of {name}:\n{text}"
        elif role in (USER, ASSISTANT) and text.strip():
            yield role, text


def _joined(turns: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    joined: list[tuple[str, str]] = []
    for role, text in turns:
        if joined and joined[-1][0] == role:
            joined[-1] = role, f"{joined[-1][1]}\n\n{text}"
        else:
            joined.append((role, text))
    return joined
