"""Where each page is. Pure.

A place is a path relative to the first page, with `/` between its parts, as the file is named that `cli site` writes;
`href` makes an address of it. Links are relative, so that the same page works on a server, below a path, in a folder.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from convex_evals.records import RunPlan, Summary
from convex_evals.store.paths import slug_folders

INDEX = "index.html"
RUNS = "runs.html"
GUIDELINES = "guidelines.html"
COMPARE = "compare.html"
REPORTS = "reports.html"
EVALS = "evals.html"
SESSIONS = "sessions.html"
SESSIONS_FOLDER = "sessions"
SESSIONS_EXPORT = f"{SESSIONS_FOLDER}/export"
SESSIONS_MARK = f"{SESSIONS_FOLDER}/mark"
ASSETS = "assets"


def leaderboard_of(experiment: str) -> str:
    return f"leaderboards/{experiment}.html"


def leaderboard_by(benchmark: str, experiment: str = "") -> str:
    """Of its first experiment, or of this other one."""
    return f"benchmarks/{benchmark}{experiment and '/'}{experiment}.html"


def model(slug: str) -> str:
    return f"models/{'/'.join(slug_folders(slug))}.html"


def matrix(experiment: str) -> str:
    return f"matrix/{experiment}.html"


def eval_page(eval_id: str) -> str:
    return f"evals/{eval_id}.html"


def run_folder(of: RunPlan | Summary) -> str:
    return f"runs/{'/'.join(slug_folders(of.model))}/{of.date}/{of.run_id}"


def run(of: RunPlan | Summary) -> str:
    return f"{run_folder(of)}/{INDEX}"


def trials(of: RunPlan | Summary, eval_id: str) -> str:
    return f"{run_folder(of)}/{eval_id}.html"


def guidelines(experiment: str, before: str, after: str) -> str:
    """Of two versions, by the beginnings of their hashes."""
    return f"guidelines/{experiment}/{before[:8]}-{after[:8]}.html"


def comparison(a: RunPlan, b: RunPlan) -> str:
    """Of two runs of one model."""
    return f"compare/{'/'.join(slug_folders(a.model))}/{a.date}_{a.run_id}/{b.date}_{b.run_id}.html"


def report(path: str) -> str:
    """Of the report in the file `path` below `reports/`."""
    return f"reports/{path.removesuffix('.md')}.html"


def session(session_id: str) -> str:
    return f"{SESSIONS_FOLDER}/{session_id}.html"


def session_label(session_id: str) -> str:
    """Of the label alone, which scripts ask for and forms write."""
    return f"{SESSIONS_FOLDER}/{session_id}/label"


def root_of(place: str) -> str:
    """The way from a page to the folder of the first one: nothing, or `../` for each folder."""
    return "../" * place.count("/")


def href(place: str, fragment: str = "", of: str = "") -> str:
    """The address of a page from the page `of`, as short as it can be: a site has many links."""
    folder, _, name = place.rpartition("/")
    address = _way(folder, of.rpartition("/")[0]) + _quoted(name)
    return f"{address}#{quote(fragment)}" if fragment else address


# Between folders, not pages: those of a run lead to the same ones, whatever eval they are about.
@lru_cache(maxsize=10_000)
def _way(there: str, here: str) -> str:
    target, own = (folder.split("/") if folder else [] for folder in (there, here))
    alike = 0
    while alike < min(len(target), len(own)) and target[alike] == own[alike]:
        alike += 1
    return "../" * (len(own) - alike) + "".join(f"{quote(name)}/" for name in target[alike:])


_quoted = lru_cache(maxsize=1_000)(quote)
