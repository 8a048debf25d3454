"""Minted benchmarks on disk: `benchmarks/NAME.yaml`."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records.benchmark import Benchmark, BenchmarkHead
from convex_evals.records.human import parse_human
from convex_evals.records.names import is_benchmark_name
from convex_evals.store.files import read_confined, write_atomic

FOLDER = "benchmarks"
_SUFFIX = ".yaml"
# The last key: what stands before it is small, and is what lists read.
_EVALS = "\nevals:\n"
_DIGITS = re.compile(r"(\d+)")

H = TypeVar("H", bound=BenchmarkHead)


@dataclass(frozen=True)
class BenchmarkFolder:
    """All benchmarks of a repository."""

    home: Path

    def path(self, name: str) -> Path:
        return self.home / FOLDER / f"{name}{_SUFFIX}"

    def names(self) -> list[str]:
        found = confined.entries(self.home / FOLDER, self.home)
        files = [name for name, kind in found.items() if kind == "file" and name.endswith(_SUFFIX)]
        return sorted(name for file in files if is_benchmark_name(name := file.removesuffix(_SUFFIX)))

    def heads(self) -> list[BenchmarkHead]:
        """All of them without their evals, newest first; of one day, by name: v10 before v9."""
        found = [self._parse(name, BenchmarkHead) for name in self.names()]
        return sorted(found, key=lambda each: (each.date, _natural(each.name)), reverse=True)

    def head(self, name: str) -> BenchmarkHead:
        """Raises `UserError` where there is none of this name."""
        self._refuse_unknown(name)
        return self._parse(name, BenchmarkHead)

    def read(self, name: str) -> Benchmark:
        """Raises `UserError` where there is none of this name, and where the file was edited."""
        self._refuse_unknown(name)
        found = self._parse(name, Benchmark)
        odd = next((e for e, own in found.evals.items() if found.inputs(e).key() != own.grading_key), None)
        if odd is not None or found != found.with_ids():
            what = f"{odd} has other fingerprints than its grading key" if odd else "its ids are not those of the rest"
            raise UserError(f"{self.path(name)}: was edited: {what}; restore the file from Git")
        return found

    def write(self, benchmark: Benchmark) -> Path:
        """Raises `UserError` where one has this name, or all that it has."""
        self.refuse_taken(benchmark.name)
        same = next((each for each in self.heads() if benchmark.ids <= each.ids), None)
        if same is not None:
            raise UserError(f"{benchmark.name}: nothing has changed since {same.name} was minted; use that")
        path = self.path(benchmark.name)
        write_atomic(path, benchmark.to_yaml(), self.home)
        return path

    def refuse_taken(self, name: str) -> None:
        if name in self.names():
            raise UserError(f"{self.path(name)}: is there already, and a benchmark never changes; choose another name")

    def _refuse_unknown(self, name: str) -> None:
        names = self.names()
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"minted: {', '.join(names) or 'none'}"
            raise UserError(f"{name}: no such benchmark in {self.home / FOLDER}; {hint}")

    def _parse(self, name: str, model: type[H]) -> H:
        path = self.path(name)
        text = read_confined(path, self.home)
        if text is None:
            raise UserError(f"{path}: no such file; restore it from Git")
        found = parse_human(text if model is Benchmark else text.partition(_EVALS)[0], path, model)
        if found.name != name:
            raise UserError(f"{path}: says that it is {found.name}; rename the file, or restore it from Git")
        return found


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _DIGITS.split(name)]
