"""Whether a change moved what the benchmarks measure: the figures of each at two revisions, in one table.

    python bench/figures.py BASE [--only REGEX] [--rounds 2] [--json]

BASE is checked out into a temporary folder; the other side is this checkout as it stands. Each benchmark runs at both
in turn, in alternating order. Prints a Markdown table with the medians of each figure that both sides measured, and the
ratio of this checkout to BASE; a benchmark that fails at a revision is named, and the others go on. How long grading
takes, and whether verdicts differ, is `bench/revisions.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.revisions import ROOT, checkout
from convex_evals.errors import UserError
from scripts.command import start

_SMALL = ["--filter", "00[0-3]-.*/00[0-1]"]
BENCHMARKS: dict[str, list[str]] = {
    "startup": ["--runs", "100"],
    "compare": ["--times", "3"],
    "backend": ["--runs", "1"],  # older revisions cannot start a second one in the same folder
    "checker": [*_SMALL, "--rounds", "2"],
    "sandbox": [*_SMALL, "--rounds", "2"],
}
_REPEATS = {"backend": 3}  # per round; others repeat what they measure themselves


@dataclass(frozen=True)
class Figure:
    """One number of a benchmark: medians over the rounds."""

    benchmark: str
    name: str
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        return self.after / self.before if self.before else None

    def to_json(self) -> dict[str, object]:
        return {**vars(self), "ratio": self.ratio and round(self.ratio, 3)}


def script(tool: Path, name: str) -> Path | None:
    """A benchmark of a checkout, where its revision has it."""
    places = (tool / "bench" / f"{name}.py", tool / "scripts" / f"bench_{name}.py")
    return next((place for place in places if place.exists()), None)


def measure(tool: Path, name: str) -> dict[str, float]:
    """The figures of one run of a benchmark at `tool`, by their paths in its JSON; raises `UserError` without any."""
    place = script(tool, name)
    if place is None:
        return {}
    argv = [sys.executable, str(place), *BENCHMARKS[name], "--json"]
    env = {**os.environ, "PYTHONPATH": str(tool)}
    done = subprocess.run(argv, cwd=tool, env=env, capture_output=True, text=True, check=False)
    try:
        return dict(numbers(json.loads(done.stdout)))
    except ValueError:
        words = done.stderr.strip() or done.stdout.strip() or "nothing was printed"
        raise UserError(f"{place.relative_to(tool)} ended with {done.returncode}: {words[-300:]}") from None


def numbers(data: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Numbers in JSON by their paths; lists, which hold single rounds, are left out."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from numbers(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path, float(data)


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Of the figures that each run has."""
    shared = set.intersection(*map(set, runs)) if runs else set()
    return {key: statistics.median(each[key] for each in runs) for key in (runs[0] if runs else ()) if key in shared}


def is_measured(key: str, sides: dict[Path, list[dict[str, float]]]) -> bool:
    """Whether a number is a measurement: others (targets, how many runs there were) are the same each time."""
    return len({each.get(key) for runs in sides.values() for each in runs}) > 1


def compare(base: Path, names: list[str], rounds: int) -> list[Figure]:
    found: list[Figure] = []
    for name in names:
        sides: dict[Path, list[dict[str, float]]] = {base: [], ROOT: []}
        for number in range(rounds * _REPEATS.get(name, 1)):
            for tool in (base, ROOT) if number % 2 else (ROOT, base):
                print(f"{name}: round {number + 1}, {'here' if tool == ROOT else 'BASE'}", file=sys.stderr, flush=True)
                try:
                    sides[tool].append(measure(tool, name))
                except UserError as error:
                    print(f"{name}: {error}", file=sys.stderr, flush=True)
        before, after = (medians(runs) for runs in sides.values())
        found += [
            Figure(name, key, before[key], after[key]) for key in before if key in after and is_measured(key, sides)
        ]
    return found


def table(figures: list[Figure]) -> str:
    lines = ["| benchmark | figure | before | after | ratio |", "|---|---|--:|--:|--:|"]
    for each in figures:
        ratio = "" if each.ratio is None else f"{each.ratio:.2f}"
        lines.append(f"| {each.benchmark} | {each.name} | {each.before:.4g} | {each.after:.4g} | {ratio} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("base", metavar="BASE", help="a commit to compare with")
    parser.add_argument("--only", metavar="REGEX", default="", help=f"some of {', '.join(BENCHMARKS)}")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    names = [name for name in BENCHMARKS if re.search(options.only, name)]
    with checkout(options.base) as base:
        figures = compare(base, names, max(1, options.rounds))
    print(json.dumps([each.to_json() for each in figures], indent=2) if options.as_json else table(figures))
    return 0


if __name__ == "__main__":
    start(main)
