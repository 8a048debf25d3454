"""Links from a report on guidelines to pages; what the pages are, is theirs to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PageLinks:
    """Addresses that are safe in a link of Markdown."""

    overviews: Mapping[str, str]  # of pages on many things, by the word that names them
    eval: Callable[[str], str]
    model: Callable[[str], str]

    def line(self) -> str:
        return "Pages: " + " · ".join(f"[{word}]({address})" for word, address in self.overviews.items())


def linked(text: str, address: Callable[[str], str] | None, name: str) -> str:
    """`text`, which is Markdown, as a link to the page of `name`, where there is a site."""
    return f"[{text}]({address(name)})" if address else text
