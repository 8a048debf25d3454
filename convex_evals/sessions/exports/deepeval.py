"""DeepEval's JSON: a list with an object for each exchange.

`context` has the text of every earlier message as it is, without the name of its role: DeepEval's metrics compare an
output with these texts, and a name in front of them would be something that nobody said. A call of a tool is written as
`NAME(ARGUMENTS)`, so that the result behind it is one of something.
"""

from __future__ import annotations

from collections.abc import Iterator

from convex_evals.render.json_lines import to_json
from convex_evals.sessions.exchanges import Exchange, exchanges
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.exports.parts import PartedFormat


def _part(labelled: LabelledSession) -> Iterator[bytes]:
    """An object a line."""
    for number, entry in enumerate(_entries(labelled)):
        yield f"{',' + chr(10) if number else ''}{entry}".encode()


FORMAT = PartedFormat(_part, opening=b"[\n", separator=b",\n", closing=b"\n]\n", empty=b"[]\n")


def _entries(labelled: LabelledSession) -> Iterator[str]:
    messages = list(labelled.read_messages())
    found = exchanges(messages)
    # The n-th exchange repeats the context of all before it, so each message is encoded once.
    context: list[str] = []
    encoded = 0
    for number, exchange in enumerate(found, 1):
        context += [to_json(text) for message in messages[encoded : exchange.at] if (text := message.text_with_calls)]
        encoded = exchange.at
        yield _entry(exchange, context, labelled.label.expectedOutput if number == len(found) else None)


def _entry(exchange: Exchange, context: list[str], expected: str | None) -> str:
    return (
        f'{{"input": {to_json(exchange.request)}, "actual_output": {to_json(exchange.reply)}, '
        f'"expected_output": {to_json(expected)}, "context": [{", ".join(context)}], "retrieval_context": []}}'
    )
