"""Every eval against every model, and the list of evals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.matrix import Matrix, MatrixRow, make_matrices
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Library


@dataclass(frozen=True)
class Line:
    """One eval's row."""

    row: MatrixRow
    discrimination: float | None

    @property
    def category(self) -> str:
        return self.row.eval_id.partition("/")[0]

    @property
    def state(self) -> str:
        """Whether every model passes it, none, or some."""
        total = self.row.total
        return "all pass" if not total.failed else "none passes" if not total.passed else "some pass"


def matrices(library: Library) -> list[Matrix]:
    return library.keep(("matrices",), lambda: make_matrices(library.newest))


def matrix_page(library: Library, experiment: str) -> Page | None:
    """None where no run was made under it; of the default experiment an empty one."""
    found = next((m for m in matrices(library) if m.experiment == experiment), None)
    if found is None and experiment != "default":
        return None
    place = urls.matrix(experiment)
    lines = [Line(row, found.discrimination(row)) for row in found.rows] if found else []
    context: dict[str, Any] = {
        "experiment": experiment,
        "matrix": found,
        "lines": lines,
        "categories": sorted({line.category for line in lines}),
        "switch": [(m.experiment, urls.matrix(m.experiment), m is found) for m in matrices(library)],
    }
    return Page(place, "matrix", f"Matrix: {experiment}", "Matrix", context)


def evals_page(library: Library) -> Page:
    """All evals that the suite has, or that a run has."""
    by_experiment = {m.experiment: {row.eval_id: row for row in m.rows} for m in matrices(library)}
    names = sorted({*library.evals, *(name for rows in by_experiment.values() for name in rows)})
    rows = [
        {
            "id": name,
            "category": name.partition("/")[0],
            "concept": library.evals[name].config.concept if name in library.evals else "not in the suite any more",
            "tags": library.evals[name].config.tags if name in library.evals else (),
            "totals": [found[name].total if name in found else None for found in by_experiment.values()],
        }
        for name in names
    ]
    context = {
        "rows": rows,
        "experiments": list(by_experiment),
        "categories": sorted({str(row["category"]) for row in rows}),
        "tags": sorted({tag for each in library.evals.values() for tag in each.config.tags}),
    }
    return Page(urls.EVALS, "evals", "Evals", "Evals", context)
