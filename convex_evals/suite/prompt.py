"""Task and guidelines to the messages that a model gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records.hashes import sha256_text
from convex_evals.render.templates import Job, TemplateFault, as_user_error, render_apart, render_here
from convex_evals.text import read_text

SHIPPED = Path(__file__).parent / "starter" / "files" / "guidelines" / "prompt.j2"
_BLOCKS = ("system", "user")
_TEMPLATE = "prompt"


@dataclass(frozen=True)
class Prompt:
    """What is sent. `system` is empty where the template has no such block."""

    system: str
    user: str
    earlier: tuple[tuple[str, str], ...] = ()  # turns between the two: role, text

    def messages(self) -> list[dict[str, str]]:
        parts = [("system", self.system), *self.earlier, ("user", self.user)]
        return [{"role": role, "content": text} for role, text in parts if text]

    @property
    def text(self) -> str:
        """All messages, for hashing and counting."""
        return "\0".join([self.system, self.user, *(part for turn in self.earlier for part in turn)])


@dataclass(frozen=True)
class PromptSource:
    """A template and the guidelines that go into it, as they were read from files or from Git."""

    template: str
    template_name: str  # where it stands, for errors
    guidelines: str | None  # None: an experiment without guidelines

    @property
    def given(self) -> str | None:
        """The guidelines as a model gets them."""
        return None if self.guidelines is None else given_guidelines(self.guidelines)

    def render(self, task: str) -> Prompt:
        """The messages for one task. Raises `UserError` where the template is at fault."""
        return self.render_all({"": task})[""]

    def render_all(self, tasks: Mapping[str, str]) -> dict[str, Prompt]:
        """The messages for each of `tasks`. Raises `UserError` where the template is at fault."""
        contexts = [{"task": task.strip(), "guidelines": self.given} for task in tasks.values()]
        job = Job(_TEMPLATE, {_TEMPLATE: self.template}, contexts, _BLOCKS)
        try:
            rendered = (render_here if self.template == shipped_template() else render_apart)(job)
        except TemplateFault as fault:
            error = as_user_error(fault, lambda _: self.template_name, self.template_name)
            raise UserError(f"{error}; it may use `task` and `guidelines`") from None
        return {
            name: _checked({block: text.strip() for block, text in texts.items()}, task, self.template_name)
            for (name, task), texts in zip(tasks.items(), rendered, strict=True)
        }


@cache
def shipped_template() -> str:
    """The prompt that a suite without one of its own has."""
    return read_text(SHIPPED)


def _checked(texts: Mapping[str, str], task: str, name: str) -> Prompt:
    if not texts.get("user"):
        raise UserError(f"{name}: no block 'user'; write {{% block user %}} ... {{% endblock %}}")
    if task.strip() not in f"{texts.get('system', '')}\n{texts['user']}":
        raise UserError(f"{name}: the task is in none of the messages; write {{{{ task }}}} in the block 'user'")
    return Prompt(texts.get("system", ""), texts["user"])


def without_comments(markdown: str) -> str:
    """Without HTML comments: what guidelines say to their editors is not for models."""
    kept, done = [], 0
    for start, end in comments(markdown):
        kept.append(markdown[done:start])
        done = end
    return "".join([*kept, markdown[done:]])


def comments(markdown: str) -> Iterator[tuple[int, int]]:
    """Where HTML comments begin and end, the line end after one included. In linear time: one may never end."""
    start = markdown.find("<!--")
    while start >= 0 and (closing := markdown.find("-->", start + 4)) >= 0:
        end = closing + 3
        while markdown[end : end + 1] in (" ", "\t"):
            end += 1
        if markdown[end : end + 1] == "\n":
            end += 1
        yield start, end
        start = markdown.find("<!--", end)


def given_guidelines(markdown: str) -> str:
    """Guidelines as a model gets them."""
    return without_comments(markdown).strip()


def guidelines_sha256(markdown: str) -> str:
    """What runs with these guidelines record: the hash of what models get of them."""
    return sha256_text(given_guidelines(markdown))
