"""How many tokens a text has, without asking anybody."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

_USUAL_BYTES_PER_TOKEN = 4


def usual_tokens(text: str) -> int:
    """A fair guess, of English, Markdown or code."""
    return math.ceil(len(text.encode("utf-8", "replace")) / _USUAL_BYTES_PER_TOKEN)


@dataclass(frozen=True)
class TokenCounter:
    """`vocabulary` is a file that counts; without one, bytes are divided by four.

    Every model has a tokenizer of its own, so this compares texts; it is not what a provider will bill.
    """

    vocabulary: Path | None

    def count(self, *texts: str) -> list[int]:
        if self.vocabulary is None:
            return [usual_tokens(text) for text in texts]
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.vocabulary))
        return [len(tokenizer.encode(text).ids) for text in texts]

    @property
    def label(self) -> str:
        return "tokens (by Claude 2's tokenizer)" if self.vocabulary else "tokens (about: bytes / 4)"


def offline_counter() -> TokenCounter:
    """The best counter that needs no network: LiteLLM brings the one vocabulary along that loads in no time."""
    import importlib.util

    path = litellm_file("litellm_core_utils/tokenizers/anthropic_tokenizer.json")
    return TokenCounter(path if importlib.util.find_spec("tokenizers") else None)


def litellm_file(name: str) -> Path | None:
    """A file that LiteLLM brings along. The package is found and not imported: that takes seconds."""
    import importlib.util

    litellm = importlib.util.find_spec("litellm")
    path = Path(litellm.origin).parent / name if litellm and litellm.origin else None
    return path if path and path.is_file() else None
