"""What a suite of a stranger brings instead of plain files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.factories import make_eval, write_files

SECRET = "planted-secret-0123456789"
EVAL = "000-fundamentals/000-answer"
Plant = Callable[[Path], None]


def link(path: str, target: str = "HOST") -> Plant:
    """`path` is a link to the file or folder of the host that `target` names."""

    def plant(suite: Path) -> None:
        place = suite / path
        if place.is_dir() and not place.is_symlink():
            place.rename(suite.parent / f"moved-{place.name}")
        elif place.exists():
            place.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target.replace("HOST", str(suite.parent / "host")))

    return plant


def moved(path: str) -> Plant:
    """The folder `path` stands elsewhere, and a link leads there: every file below it is behind a link."""

    def plant(suite: Path) -> None:
        elsewhere = suite.parent / "elsewhere"
        (suite / path).rename(elsewhere)
        (suite / path).symlink_to(elsewhere)

    return plant


def written(files: dict[str, str]) -> Plant:
    return lambda suite: void(write_files(suite, files))


def settings(experiment: str) -> Plant:
    return written({"convex-evals.yaml": f"experiments: {{default: {{{experiment}}}}}\n"})


def pipe(path: str) -> Plant:
    def plant(suite: Path) -> None:
        (suite / path).unlink(missing_ok=True)
        (suite / path).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(suite / path)

    return plant


def sparse(path: str) -> Plant:
    def plant(suite: Path) -> None:
        with (suite / path).open("wb") as file:
            file.truncate(50 << 30)

    return plant


def void(_: object) -> None:
    return None


def make_suite(folder: Path) -> Path:
    suite = folder / "suite"
    make_eval(suite, files={"wrong/a/convex/main.ts": "1", "wrong/a/reason.txt": "None.\ncaught by: deploy\n"})
    write_files(suite, {"guidelines/convex.md": "- A rule.\n", "models.yaml": "models: [{slug: openai/gpt-4o}]\n"})
    write_files(folder / "host", {"secret.txt": SECRET, "convex.md": SECRET, "TASK.txt": SECRET, "main.ts": SECRET})
    write_files(folder / "host", {"prompt.j2": f"{{% block user %}}{{{{ task }}}}{SECRET}{{% endblock %}}"})
    return suite
