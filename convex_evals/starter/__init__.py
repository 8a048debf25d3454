"""What `cli init` lays out: the files below files/, where `dot-` stands for a leading dot."""

from __future__ import annotations

from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.store.files import read_text, write_atomic

FILES = Path(__file__).parent / "files"


def lay_out(folder: Path) -> list[Path]:
    """Write the starter into `folder`; the paths written. Raises `UserError` first where a file is in the way."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: is a file; name a new folder")
    sources = sorted(p for p in FILES.rglob("*") if p.is_file() and "node_modules" not in p.parts)
    targets = [folder.joinpath(*(_visible(part) for part in p.relative_to(FILES).parts)) for p in sources]
    taken = [t for t in targets if t.exists()]
    if taken:
        raise UserError(f"{taken[0]}: is already there; name a new folder, or move it away")
    for source, target in zip(sources, targets, strict=True):
        write_atomic(target, read_text(source))
    return targets


def _visible(part: str) -> str:
    return "." + part.removeprefix("dot-") if part.startswith("dot-") else part
