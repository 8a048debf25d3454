"""What stands in the files that editors read. Pure: the same guidelines give the same bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from convex_evals import __version__
from convex_evals.errors import UserError
from convex_evals.guidelines.cut import Kept, compose, most_that_fit, ranked, title_of
from convex_evals.guidelines.document import Guidelines
from convex_evals.guidelines.editor_files import EDITOR_FILES, EditorFile
from convex_evals.records.hashes import sha256_text
from convex_evals.suite.prompt import guidelines_sha256
from convex_evals.text import counted, one_line

_UNSIGNED = "0" * 8
_NOTE = re.compile(
    r"^Written by convex-evals \S+ from guidelines with sha256 [0-9a-f]{64}: .+ Checksum ([0-9a-f]{8})\.\r?$",
    re.MULTILINE,
)
# Readers of llms.txt find a link by its brackets, and know no escapes.
_NO_BRACKETS = str.maketrans("[]", "()")


@dataclass(frozen=True)
class BuiltFile:
    """A file as it should be."""

    kind: EditorFile
    path: str  # below the output folder
    text: str
    left_out: tuple[int, ...]  # rules that did not fit, by their places


def is_ours(content: bytes) -> bool:
    """Whether a file was written here, and has not been edited since: its checksum is that of the rest of it."""
    text = content.decode("utf-8", "replace")
    found = _NOTE.search(text)
    if found is None:
        return False
    return _checksum(f"{text[: found.start(1)]}{_UNSIGNED}{text[found.end(1) :]}") == found[1]


def _signed(text: str) -> str:
    """With the checksum in its note."""
    return text.replace(f" Checksum {_UNSIGNED}.", f" Checksum {_checksum(text)}.", 1)


def _checksum(text: str) -> str:
    return sha256_text(text)[: len(_UNSIGNED)]


def build_files(
    guidelines: Guidelines, name: str, titles: Mapping[str, str], tools: Collection[str]
) -> list[BuiltFile]:
    """The files of `tools`, of guidelines in the file `name`; `titles` are those of cited pages.

    Raises `UserError` where a limit is too small for the title alone.
    """
    order, digest = ranked(guidelines), guidelines_sha256(guidelines.text)
    every = frozenset(order)
    built = []
    for kind in EDITOR_FILES:
        if kind.tool not in tools:
            continue
        path = kind.path.format(name=f"{name}_rules")
        if kind.is_index:
            text = _signed(_index(guidelines, name, titles, _note(digest, every, every)))
            built.append(BuiltFile(kind, path, text, ()))
            continue
        kept = _kept(guidelines, order, kind, digest)
        if kept is None:
            raise UserError(f"{path}: the guidelines' title alone does not fit into this file; shorten it")
        text = _signed(_text(guidelines, kept, kind, digest))
        built.append(BuiltFile(kind, path, text, tuple(sorted(every - kept))))
    return built


def _kept(guidelines: Guidelines, order: list[int], kind: EditorFile, digest: str) -> Kept | None:
    """The rules that fit into a file; None where not even its title does."""
    limit = kind.limit
    if limit is None:
        return frozenset(order)
    return most_that_fit(order, lambda kept: limit.size(_text(guidelines, kept, kind, digest)) <= limit.most)


def _text(guidelines: Guidelines, kept: Kept, kind: EditorFile, digest: str) -> str:
    text = compose(guidelines, kept, _note(digest, kept, range(len(guidelines.rules))))
    return "\n".join(["---", *kind.front_matter, "---", "", text]) if kind.front_matter else text


def _note(digest: str, kept: Collection[int], every: Collection[int]) -> str:
    rules = counted(len(every), "rule")
    number = f"all {rules}" if len(kept) == len(every) else f"{len(kept)} of {rules}"
    return (
        f"Written by convex-evals {__version__} from guidelines with sha256 {digest}: {number}. Checksum {_UNSIGNED}."
    )


def _index(guidelines: Guidelines, name: str, titles: Mapping[str, str], note: str) -> str:
    """llms.txt: where the rules are, and by section the pages that they cite."""
    title = one_line(title_of(guidelines)) or name
    summary = "Rules for language models that write Convex code, and the documentation that they rest on."
    lines = [f"# {title}", "", f"> {summary}", "", note, "", "## Rules", ""]
    lines.append(f"- [All rules](llms-full.txt): {counted(len(guidelines.rules), 'rule')}, as Markdown")
    for section, cited in zip(guidelines.sections, _cited(guidelines), strict=True):
        if cited:
            lines += ["", f"## {one_line(section.name)}", ""]
            lines += [f"- {_link(page, titles)}: {counted(number, 'rule')}" for page, number in cited.items()]
    return "\n".join(lines) + "\n"


def _cited(guidelines: Guidelines) -> list[Counter[str]]:
    """For each section, the pages that its rules cite, and how many of them do."""
    cited: list[Counter[str]] = [Counter() for _ in guidelines.sections]
    for rule in guidelines.rules:
        cited[rule.section].update(dict.fromkeys((page for note in rule.notes for page in note.pages), 1))
    return cited


def _link(page: str, titles: Mapping[str, str]) -> str:
    words = one_line(titles.get(page, page)).translate(_NO_BRACKETS)
    return f"[{words}](https://{page.replace('(', '%28').replace(')', '%29')})"
