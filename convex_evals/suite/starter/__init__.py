"""What `cli init` and `cli new-eval` lay out: the files below files/, where `dot-` stands for a leading dot."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

from convex_evals import __version__
from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import refuse_links
from convex_evals.store.files import write_atomic
from convex_evals.text import read_text
from convex_evals.vcs.origin import own_origin

FILES = Path(__file__).parent / "files"
# The example that a new eval begins as: small, and it validates.
EXAMPLE = FILES / "evals" / "000-fundamentals" / "000-greeting"
REQUIREMENTS = "requirements.txt"
_PAGE = re.compile(r"(?<![/\w])(docs/[a-z-]+\.md)( of convex-evals)?")
_NUMBERED = re.compile(r"\d{3}-([a-z0-9]+(_[a-z0-9]+)*)")
_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


def lay_out(folder: Path) -> list[Path]:
    """Write the starter into `folder`; the paths written. Raises `UserError` first where a file is in the way."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: is a file; name a new folder")
    wanted = own_origin().requirement(__version__)
    return _copy(FILES, folder, {"convex-evals @ git+https://REPOSITORY@COMMIT": wanted} if wanted else {})


def lay_out_eval(suite: Path, category: str, name: str) -> list[Path]:
    """Write the example as a new eval, in the folder that `new_eval_folder` returns; the paths written."""
    return _copy(EXAMPLE, new_eval_folder(suite, category, name), {'"greeting"': f'"{name.replace("_", "-")}"'})


def new_category(suite: Path, name: str) -> str:
    """Return the category of this name, or the next free number with it where there is none."""
    taken = _folders(suite / "evals")
    number = max((int(each[:3]) for each in taken if each[:3].isdigit()), default=-1) + 1
    return next((each for each in taken if each.partition("-")[2] == name), f"{number:03}-{name}")


def free_name(suite: Path, category: str, name: str) -> str:
    """Return `name`, or the first of name_2, name_3, ... that no eval of the category has."""
    taken = {each.partition("-")[2] for each in _folders(suite / "evals" / category)}
    return next(each for each in chain([name], (f"{name}_{number}" for number in count(2))) if each not in taken)


def new_eval_folder(suite: Path, category: str, name: str) -> Path:
    """Return the folder of a new eval of `category`, with the next free number; it is not there yet.

    `category` is the name of a category that is there, with or without its number, or of a new one with its number.
    Raises `UserError`.
    """
    evals = suite / "evals"
    folder = evals / _category(evals, category)
    if not _NAME.fullmatch(name):
        raise UserError(f"'{name}': a name is lower-case words joined by '_', without a number, like 'recent_orders'")
    refuse_links(suite, folder)
    taken = _folders(folder)
    if twin := next((t for t in taken if t.partition("-")[2] == name), None):
        raise UserError(f"{folder / twin}: already exists; choose another name")
    number = max((int(t[:3]) for t in taken if t[:3].isdigit()), default=-1) + 1
    return folder / f"{number:03}-{name}"


def _category(evals: Path, word: str) -> str:
    present = _folders(evals)
    for category in present:
        if word in (category, category.partition("-")[2]):
            return category
    if _NUMBERED.fullmatch(word):
        return word
    near = difflib.get_close_matches(word, [p.partition("-")[2] for p in present], n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"available: {', '.join(present) or 'none'}"
    raise UserError(f"'{word}': no such category; {hint} (a new one is named with its number, like '008-agents')")


def _folders(parent: Path) -> list[str]:
    return sorted(p.name for p in parent.iterdir() if p.is_dir()) if parent.is_dir() else []


def _copy(source: Path, folder: Path, replacements: dict[str, str] | None = None) -> list[Path]:
    files = sorted(p for p in source.rglob("*") if p.is_file() and "node_modules" not in p.parts)
    targets = [folder.joinpath(*(_visible(part) for part in p.relative_to(source).parts)) for p in files]
    for target in targets:
        refuse_links(folder, target)
    taken: Sequence[Path] = [t for t in targets if t.exists()]
    if taken:
        raise UserError(f"{taken[0]}: already exists; name a new folder, or move it away")
    for file, target in zip(files, targets, strict=True):
        text = read_text(file)
        for old, new in (replacements or {}).items():
            text = text.replace(old, new)
        text = _PAGE.sub(lambda found: own_origin().page(found[1]), text)
        write_atomic(target, text, folder)
    return targets


def _visible(part: str) -> str:
    return "." + part.removeprefix("dot-") if part.startswith("dot-") else part
