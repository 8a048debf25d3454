"""A model's share in a draft: task, grader, and further projects, each of which a person has to read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.models import Ask
from convex_evals.models.retries import ModelSolver
from convex_evals.records.generation import Generation
from convex_evals.records.hashes import sha256_parts
from convex_evals.sessions.drafting.draft import Draft
from convex_evals.sessions.exchanges import turns
from convex_evals.sessions.message import Message
from convex_evals.store.replies import ReplyFile
from convex_evals.suite.drafts import draft_line, without_draft_lines
from convex_evals.suite.extract import extract, files_problem, render_response
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import CONFIG_NAME, GRADER_NAME, REASON_NAME, TASK_NAME, Eval
from convex_evals.text import read_text

REPLIES = Path(".cache", "convex-evals", "drafts")
_REQUEST = Path(__file__).with_name("request.md")
_MOST_TALK = 30_000  # characters of the conversation
_OWN = (TASK_NAME, CONFIG_NAME, GRADER_NAME)
_PROJECT = re.compile(r"((?:wrong|accept)/[a-z0-9][a-z0-9-]{0,60})/(.+)")
# How a comment begins in the files of an eval; others are read by people alone.
_COMMENTS = {GRADER_NAME: "// ", CONFIG_NAME: "# "}


@dataclass(frozen=True)
class ModelDraft:
    """The draft with what a model wrote, and what that cost."""

    draft: Draft
    generation: Generation


def prompt_for(draft: Draft, messages: Sequence[Message]) -> Prompt:
    """What the model is asked: the drafted files without the lines for people, and what was said."""
    files = {path: without_draft_lines(text) for path, text in draft.files.items()}
    talk = "\n\n".join(f"Person: {turn.request}\n\nAgent: {turn.reply}" for turn in turns(messages))
    cut = "" if len(talk) <= _MOST_TALK else "\n[the rest is left out]"
    said = f"The draft so far:\n\n{render_response(files)}\n\nWhat was said in the session:\n\n{talk[:_MOST_TALK]}{cut}"
    return Prompt(read_text(_REQUEST), said)


async def drafted_by(
    solver: ModelSolver,
    ev: Eval,
    session_id: str,
    draft: Draft,
    messages: Sequence[Message],
    home: Path,
    waiting: Callable[[str | None], None],
) -> ModelDraft:
    """Ask the model once. Its reply is kept below `home`: the same request is paid for once.

    `waiting` is told what the request waits for, None for nothing.

    Raises `UserError` where no usable reply comes, and `ModelStopped`.
    """
    prompt = prompt_for(draft, messages)
    key = sha256_parts([solver.model, repr(sorted(solver.inputs(ev, prompt).items())), prompt.text])
    log = ReplyFile(home / REPLIES / f"{session_id[:8]}-{key[:16]}.jsonl", home)
    try:
        async with solver.waits.told(waiting):
            found = await solver.respond(Ask(ev, 1, key, prompt), log)
    finally:
        log.close()
    generation = found.generation
    if found.response is None or generation.fault:
        raise UserError(f"{solver.model}: {generation.reason}; nothing was written: try again, or leave --with out")
    return ModelDraft(merged(draft, extract(found.response).files, solver.model, session_id), generation)


def merged(draft: Draft, written: Mapping[str, str], model: str, session_id: str) -> Draft:
    """The draft with a model's files over its own; a line in each says that a person has to read it.

    Raises `UserError` where the model wrote nothing of use.
    """
    kept, refused = {}, []
    for path, text in written.items():
        project = _PROJECT.fullmatch(path)
        if path in _OWN or (project and not files_problem({project[2]: text})):
            kept[path] = without_draft_lines(text)
        else:
            refused.append(path)
    folders = {found[1]: None for path in kept if (found := _PROJECT.fullmatch(path))}
    for folder in folders:
        kept.setdefault(f"{folder}/{REASON_NAME}", "caught by: tests\n" if folder.startswith("wrong/") else "Right.\n")
    if not kept:
        raise UserError(f"{model}: its reply has none of the files that it was asked for; try again, or another model")
    line = draft_line(session_id, None, f"{model} wrote this; read and correct it, then delete this line")
    marked = {
        path: f"{_COMMENTS.get(path, '')}{line}\n{text}" if _is_marked(path) else text for path, text in kept.items()
    }
    notes = [f"{model} also wrote {path}, which was left out" for path in refused]
    return replace(draft, files={**draft.files, **marked}, notes=[*draft.notes, *notes])


def _is_marked(path: str) -> bool:
    """Whether a line may stand in it: in what people and the suite read, not in the code of projects."""
    return path in _OWN or path.rpartition("/")[2] == REASON_NAME
