"""Task and guidelines to the messages that a model gets. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from convex_evals.errors import UserError
from convex_evals.suite import sha256_text

COMMENT = re.compile(r"<!--.*?-->[ \t]*\n?", re.DOTALL)
_BLOCKS = ("system", "user")


@dataclass(frozen=True)
class Prompt:
    """What is sent. `system` is empty where the template has no such block."""

    system: str
    user: str

    def messages(self) -> list[dict[str, str]]:
        parts = [("system", self.system), ("user", self.user)]
        return [{"role": role, "content": text} for role, text in parts if text]

    @property
    def text(self) -> str:
        """Both messages, for hashing and counting."""
        return f"{self.system}\0{self.user}"


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
        import jinja2

        environment = jinja2.Environment(
            undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
        )
        try:
            template = environment.from_string(self.template)
            context = template.new_context({"task": task.strip(), "guidelines": self.given})
            texts = {
                name: "".join(template.blocks[name](context)).strip() for name in _BLOCKS if name in template.blocks
            }
        except jinja2.TemplateSyntaxError as error:
            raise UserError(f"{self.template_name}:{error.lineno}: {error.message}") from None
        except jinja2.TemplateError as error:
            raise UserError(f"{self.template_name}: {error}; it may use `task` and `guidelines`") from None
        return _checked(texts, task, self.template_name)


def _checked(texts: Mapping[str, str], task: str, name: str) -> Prompt:
    if not texts.get("user"):
        raise UserError(f"{name}: no block 'user'; write {{% block user %}} ... {{% endblock %}}")
    if task.strip() not in f"{texts.get('system', '')}\n{texts['user']}":
        raise UserError(f"{name}: the task is in none of the messages; write {{{{ task }}}} in the block 'user'")
    return Prompt(texts.get("system", ""), texts["user"])


def without_comments(markdown: str) -> str:
    """Without HTML comments: what guidelines say to their editors is not for models."""
    return COMMENT.sub("", markdown)


def given_guidelines(markdown: str) -> str:
    """Guidelines as a model gets them."""
    return without_comments(markdown).strip()


def guidelines_sha256(markdown: str) -> str:
    """What runs with these guidelines record: the hash of what models get of them."""
    return sha256_text(given_guidelines(markdown))
