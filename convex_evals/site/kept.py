"""What is read once, though several pages are made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from convex_evals.records import GenerationFile, GradeFile, Pruned, Summary
from convex_evals.store.run import PRUNED_NAME, Run

T = TypeVar("T")
Key = tuple[object, ...]


@dataclass
class Latest:
    """What was asked for last, and no more of it than `most`."""

    most: int
    _kept: dict[Key, Any] = field(default_factory=dict)

    def keep(self, key: Key, make: Callable[[], T]) -> T:
        """What is kept under `key`, made where nothing is."""
        found: T = self._kept.pop(key) if key in self._kept else make()
        self.put(key, found)
        return found

    def put(self, key: Key, value: object) -> None:
        self._kept.pop(key, None)
        self._kept[key] = value
        if len(self._kept) > self.most:
            del self._kept[next(iter(self._kept))]

    def get(self, key: Key) -> Any:
        return self._kept.get(key)

    def clear(self) -> None:
        self._kept.clear()


@dataclass(frozen=True)
class KeptRun(Run):
    """A complete run: no file of it changes unless its summary does, or its folder."""

    known: Summary
    # Gives a record, which is read where it is not kept.
    keep: Callable[[Key, Callable[[], Any]], Any] = field(compare=False, repr=False)

    def summary(self) -> Summary:
        return self.known

    @property
    def pruned(self) -> Pruned | None:
        found: Pruned | None = self.keep((self.folder, PRUNED_NAME), lambda: super(KeptRun, self).pruned)
        return found

    def generation(self, eval_id: str) -> GenerationFile:
        found: GenerationFile = self.keep((self.folder, eval_id), partial(super().generation, eval_id))
        return found

    def grade_file(self, eval_id: str, name: str) -> GradeFile:
        found: GradeFile = self.keep((self.folder, eval_id, name), partial(super().grade_file, eval_id, name))
        return found
