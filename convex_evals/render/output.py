"""The one door to standard output and standard error: whatever others wrote is harmless behind it.

Names, messages, replies, records, branches and errors of providers may come from a model, a pull request or a server.
Nothing else in the product prints, so that none of it is forgotten; tests/render/test_output.py holds that. What draws
a progress bar (terminal.py) and asks a question (cli/questions.py) writes to the terminal by a library, and passes text
through `printable` first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from convex_evals.text import JOINER, one_line, printable

if TYPE_CHECKING:
    from convex_evals.render.model import Section

_IN_STRINGS = re.compile(r"[^\x20-\x7e\n\t]|(?<=##)[\w[]")


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print `text`, on standard error with `err`."""
    _write(sys.stderr if err else sys.stdout, printable(text) + end)


def say_section(section: Section) -> None:
    """Print lines and tables: as wide as the terminal at most and coloured, or whole and plain where there is none."""
    from convex_evals.render.plain import plain

    _write(sys.stdout, f"{_drawn(section) if sys.stdout.isatty() else printable(plain(section))}\n")


def say_markdown(text: str) -> None:
    """Print a document that brings its own line end."""
    _write(sys.stdout, printable(text, keep=JOINER))


def say_csv(text: str) -> None:
    """Print a CSV document that brings its own line end."""
    _write(sys.stdout, printable(text))


def say_json(text: str) -> None:
    """Print a JSON document: the same value, with escapes for whatever `say` would spell out."""
    _write(sys.stdout, _IN_STRINGS.sub(_escaped, text.rstrip("\n")) + "\n")


def say_bytes(pieces: Iterable[bytes]) -> None:
    """Pass a file on as it is; on a terminal, print what can be seen of it."""
    if sys.stdout.isatty():
        for piece in pieces:
            say(piece.decode("utf-8", "replace"), end="")
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def complain(message: str, kind: str = "error") -> None:
    """Print one line on standard error, whatever `message` is made of."""
    say(f"{kind}: {one_line(message)}", err=True)


def _drawn(section: Section) -> str:
    """For this terminal. NO_COLOR and `TERM=dumb` leave the colours out."""
    import io
    import os
    import shutil

    from rich.console import Console
    from rich.text import Text

    from convex_evals.render.model import Tone
    from convex_evals.render.plain import lines

    styles = {"heading": "bold", "rule": "dim", Tone.GOOD: "green", Tone.BAD: "red", Tone.UNSURE: "yellow", None: ""}
    bare = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    drawn = io.StringIO()
    console = Console(
        file=drawn,
        force_terminal=True,
        color_system=None if bare else "standard",
        highlight=False,
        legacy_windows=False,
    )
    for line in lines(section, shutil.get_terminal_size().columns):
        text = Text.assemble(*((printable(span), styles[style]) for span, style in line))
        console.print(text, soft_wrap=True)
    return drawn.getvalue().rstrip("\n")


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() and not character.isascii() and printable(character) == character:
        return character
    return "".join(f"\\u{unit:04x}" for unit in _utf16(character))


def _utf16(character: str) -> list[int]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    # A terminal of another encoding shows an escape instead of ending the command.
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
