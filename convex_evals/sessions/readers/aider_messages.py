"""What was said in one conversation with Aider, from the lines of its history."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, RecordCount
from convex_evals.sessions.message import ASSISTANT, SYSTEM, USER, Message
from convex_evals.sessions.readers.values import MOST_TOKENS

_REQUEST, _OUTPUT, _END = "#### ", "> ", "  "
_NOTHING_SAID = "<blank>"  # what Aider logs for an empty request
_MODEL = re.compile(r"(?:Main model|Models?): (\S+) (?:with|using) ")
_VERSION = re.compile(r"Aider v(\d\S*)")
_TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]+k?) sent(?:, [\d.,]+k? cache write)?(?:, (?P<hit>[\d.,]+k?) cache hit)?,"
    r" (?P<received>[\d.,]+k?) received\.(?P<rest>.*)"
)
_COST = re.compile(r"Cost: \$([\d.,]+) (?:message|request|send), \$([\d.,]+) session\.")
# The tags that Aider puts around what a model shows of its reasoning.
_THINKING = re.compile(r"<(thinking-content-[0-9a-f]{32})>(.*?)(?:</\1>|\Z)", re.DOTALL)


class _Kind(Enum):
    REQUEST = USER
    REPLY = ASSISTANT
    # Aider's own output is neither the person's nor the model's, and answers no call of a tool that a model made.
    OUTPUT = SYSTEM


@dataclass
class Told:
    """What the lines of one conversation say."""

    messages: list[Message] = field(default_factory=list)
    version: str | None = None
    cost_usd: float | None = None


def messages_of(lines: Sequence[str], records: RecordCount) -> Told:
    """The messages that `lines` hold; each line is counted in `records`."""
    reader = _Reader(records, is_intact=any(_is_prefixed(line) and line.endswith(_END) for line in lines))
    for line in lines:
        reader.take(line)
    reader.end_message()
    return reader.told


class _Reader:
    def __init__(self, records: RecordCount, is_intact: bool) -> None:
        self.told = Told()
        self._records = records
        self._is_intact = is_intact  # an editor may have removed the blanks at the ends of lines
        self._kind = _Kind.REPLY
        self._lines: list[str] = []
        self._model: str | None = None
        self._awaits_cost = False

    def take(self, line: str) -> None:
        kind = self._kind_of(line)
        text = line[2:].rstrip() if kind is _Kind.OUTPUT else line[5:].rstrip() if kind is _Kind.REQUEST else line
        if kind is _Kind.OUTPUT and self._take_usage(text):
            return
        # Where both kinds of cache were used, the cost is on a line of its own, that the prefix is missing from.
        if self._awaits_cost and kind is _Kind.REPLY and self._take_cost(text):
            self._records.count(DETAIL)
            return
        self._awaits_cost = False
        if kind is not self._kind:
            self.end_message()
            self._kind = kind
        if kind is _Kind.OUTPUT:
            self._take_details(text)
        self._lines.append(text)

    def end_message(self) -> None:
        """Turn the lines since the last change of sides into a message."""
        if not self._lines:
            return
        text = "\n".join(self._lines).strip("\n") if self._kind is _Kind.REPLY else "\n".join(self._lines)
        is_message = bool(text.strip()) and not (self._kind is _Kind.REQUEST and text.strip() == _NOTHING_SAID)
        self._records.count(MESSAGE if is_message else DETAIL, len(self._lines))
        if is_message:
            self.told.messages.append(self._message(text))
        self._lines = []

    def _message(self, text: str) -> Message:
        if self._kind is not _Kind.REPLY:
            return Message(self._kind.value, text)
        thinking = "\n\n".join(found[2].strip() for found in _THINKING.finditer(text)) or None
        if thinking:
            text = _THINKING.sub("", text).strip()
        return Message(ASSISTANT, text, thinking=thinking, model=self._model)

    def _kind_of(self, line: str) -> _Kind:
        if not _is_prefixed(line):
            return _Kind.REPLY
        is_request = line.startswith(_REQUEST)
        # Replies have headings of this level, quotations, and code that begins like this. What Aider wrote ends in two
        # blanks, except the first line of an output of several, which mostly follows other output.
        is_text = is_request or (self._kind is _Kind.REPLY and not _TOKENS.match(line[2:]))
        if self._is_intact and not line.endswith(_END) and is_text:
            return _Kind.REPLY
        return _Kind.REQUEST if is_request else _Kind.OUTPUT

    def _take_details(self, text: str) -> None:
        if model := _MODEL.match(text):
            self._model = model[1]
        elif (version := _VERSION.match(text)) and self.told.version is None:
            self.told.version = version[1]

    def _take_usage(self, text: str) -> bool:
        """Whether `text` is the report of tokens behind a reply, which then is part of that reply."""
        report = _TOKENS.match(text)
        if not report:
            return False
        self.end_message()
        self._kind = _Kind.OUTPUT
        self._records.count(DETAIL)
        sent, received, hit = (_number(report[name]) for name in ("sent", "received", "hit"))
        # Some providers count what came from the cache among what was sent, and some do not.
        usage = Usage(input_tokens=sent + hit if hit > sent else sent, output_tokens=received, cached_tokens=hit)
        self._add_to_reply(usage=usage)
        self._awaits_cost = not self._take_cost(report["rest"].strip())
        return True

    def _take_cost(self, text: str) -> bool:
        cost = _COST.match(text)
        if not cost:
            return False
        try:
            of_message, of_all = (float(amount.replace(",", "")) for amount in cost.groups())
        except ValueError:
            return False
        self._add_to_reply(cost_usd=of_message)
        self.told.cost_usd = of_all
        self._awaits_cost = False
        return True

    def _add_to_reply(self, usage: Usage | None = None, cost_usd: float | None = None) -> None:
        """Note what the last request of the model took, on the last reply unless it has that already."""
        messages = self.told.messages
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if message.role == USER:
                return
            if message.role == ASSISTANT:
                if usage is not None and message.usage is None:
                    messages[index] = replace(message, usage=usage)
                if cost_usd is not None and message.cost_usd is None:
                    messages[index] = replace(message, cost_usd=cost_usd)
                return


def _is_prefixed(line: str) -> bool:
    return line.startswith((_REQUEST, _OUTPUT))


def _number(text: str | None) -> int:
    """Of `936`, `4.5k` or `12,345`; 0 where it is none."""
    if not text:
        return 0
    try:
        value = float(text.removesuffix("k").replace(",", "")) * (1000 if text.endswith("k") else 1)
    except ValueError:
        return 0
    return min(round(value), MOST_TOKENS) if value < float("inf") else 0
