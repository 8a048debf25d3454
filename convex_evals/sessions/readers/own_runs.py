"""Our own runs: a trial's task and its reply, as a conversation of two messages.

The task is the one that the run had, by its hash, from the suite that `runs/` stands in or from its history. A reply
that several runs use is one conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records import Generation
from convex_evals.sessions.conversation import DETAIL, MESSAGE, Conversation, Problems, RecordCount
from convex_evals.sessions.folders import project_files
from convex_evals.sessions.message import ASSISTANT, USER, Message
from convex_evals.store.run import GENERATION_NAME, Run, open_run
from convex_evals.suite.asked import AskedReader

# What a run says of a reply that another run has, too.
_OF_ONE_RUN = {"reused_from", "commands", "trial"}


class OwnRuns:
    """The reader `runs`."""

    name = "runs"

    def places(self, home: Path) -> Sequence[Path]:
        return ()

    def files(self, place: Path) -> Iterator[Path]:
        if place.is_file():
            yield place
            return
        yield from project_files(place, GENERATION_NAME.__eq__)

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        try:
            yield from _conversations(file, problems)
        except UserError as error:
            problems(f"{error}; left out")


READER = OwnRuns()


def _conversations(file: Path, problems: Problems) -> Iterator[Conversation]:
    parts = file.absolute().parts
    if file.name != GENERATION_NAME or len(parts) < 9 or parts[-4] != "evals":
        raise UserError(f"{file}: not the {GENERATION_NAME} of an eval in a run")
    run, eval_id = open_run(file.absolute().parents[3]), "/".join(parts[-3:-1])
    if eval_id not in run.plan.evals:
        raise UserError(f"{file}: the run's plan has no such eval")
    received = [each for each in run.generation(eval_id).trials if each.received]
    task = _tasks(run.root.parent).read(run, eval_id).task if received else None
    if received and task is None:
        raise UserError(f"{file}: the task has changed since, and the suite's history does not have it")
    for generation in received:
        reply = run.reply(eval_id, generation.trial)
        if reply is None:
            problems(f"{file.parent / f'{generation.trial}.md'}: the reply is not there any more; left out")
        else:
            yield _conversation(run, eval_id, task or "", generation, reply)


@lru_cache(maxsize=4)
def _tasks(suite: Path) -> AskedReader:
    return AskedReader(suite)


def _conversation(run: Run, eval_id: str, task: str, generation: Generation, reply: str) -> Conversation:
    record = generation.model_dump(mode="json", by_alias=True, exclude=_OF_ONE_RUN)
    day = run.asked_on(generation)
    return Conversation(
        tool=READER.name,
        native_id=generation.generation_id,
        title=eval_id,
        started_at=f"{day}T00:00:00.000Z" if day else None,
        messages=[
            Message(USER, task),
            Message(ASSISTANT, reply, model=run.plan.model, usage=generation.usage, cost_usd=_cost(run, generation)),
        ],
        raw=[_json({"eval": eval_id, "task": task}), _json(record), _json({"model": run.plan.model, "reply": reply})],
        records=_counted(),
    )


def _cost(run: Run, generation: Generation) -> float | None:
    return None if run.plan.synthetic else generation.cost_usd


def _counted() -> RecordCount:
    count = RecordCount()
    count.count(MESSAGE, 2)
    count.count(DETAIL)
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
