"""A small repository with everything that pages show."""

from __future__ import annotations

import subprocess
from pathlib import Path

from convex_evals.config import Workspace, open_workspace
from convex_evals.site.library import Library
from convex_evals.store.run import Run
from convex_evals.suite.extract import render_response
from tests.factories import make_eval, make_eval_plan, make_failure, make_git_repo, make_run, write_files

EVALS = ("000-fundamentals/000-answer", "000-fundamentals/001-crons", "001-queries/000-filter")
MODELS = ("acme/alpha", "acme/beta", "zeta/gamma")
FIRST, SECOND = "# Rules\n\n## Queries\n\n- Use an index.\n<!-- evals: 001-queries/000-filter -->\n", ""
SECOND = FIRST.replace("Use an index.", "Use an index, never a filter.") + "- Crons are in convex/crons.ts.\n"
REPLY = render_response(
    {
        "package.json": '{"name": "project"}',
        "convex/main.ts": """import { query } from "./_generated/server";
export const answer = query(() => 41); // <b>
""",
    }
)
MESSAGE = "AssertionError: expected 41 to be 42\n\n- Expected\n+ Received\n\n- 42\n+ 41"
FAILURE = make_failure({"tests": "1 test failed"}, {"answers": MESSAGE, "stays": None})
TYPES = make_failure({"tsc": "convex/main.ts:2:41 TS2345: Argument of type 'number' is not assignable."})


def make_workspace(folder: Path, *, with_report: bool = True) -> Workspace:
    """Three models, two experiments, two versions of the guidelines, a report, a run that is not complete."""
    from convex_evals.suite.prompt import guidelines_sha256

    for eval_id in EVALS:
        make_eval(folder, eval_id, {"eval.yaml": "concept: One thing.\ntags: [basic]\n"})
    write_files(folder, {"guidelines/convex.md": FIRST, ".gitignore": ".cache\nruns\n"})
    make_git_repo(folder)
    write_files(folder, {"guidelines/convex.md": SECOND})
    commit(folder, "Say more about crons")
    old, new = (guidelines_sha256(text) for text in (FIRST, SECOND))
    runs = folder / "runs"
    add_run(runs, "acme/alpha", "2026-01-10", ["ppf", "pff", "fff"], guidelines=old)
    add_run(runs, "acme/alpha", "2026-01-20", ["ppp", "ppf", "ffp"], guidelines=new)
    add_run(runs, "acme/alpha", "2026-01-20", ["ppf", "fff", "fff"], experiment="no_guidelines")
    add_run(runs, "acme/beta", "2026-01-20", ["ppp", "ppp", "ppp"], guidelines=new)
    add_run(runs, "zeta/gamma", "2026-01-19", ["fff", "ppf", "fff"], guidelines=new)
    add_run(runs, "zeta/gamma", "2026-01-21", ["fff", "ppu", "fff"], guidelines=new)  # too few scored to be ranked
    add_run(runs, "zeta/gamma", "2026-01-22", ["ppp", "", ""], guidelines=new, complete=False)
    return open_workspace(None, None, folder) if not with_report else with_reports(folder)


def commit(folder: Path, message: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *identity, "commit", "-q", "-a", "-m", message], cwd=folder, check=True)


def add_run(
    runs: Path,
    model: str,
    date: str,
    outcomes: list[str],
    *,
    experiment: str = "default",
    guidelines: str | None = None,
    complete: bool = True,
) -> Run:
    """`outcomes`: of each eval, a letter a trial."""
    rows = dict(zip(EVALS, outcomes, strict=True))
    return make_run(
        runs,
        rows,
        replies=dict.fromkeys(EVALS, f"I would say 41.\n\n{REPLY}"),
        failures={EVALS[0]: FAILURE, EVALS[1]: TYPES, EVALS[2]: FAILURE},
        complete=complete,
        model=model,
        date=date,
        run_id=f"{experiment}-{date[-2:]}{'0' * 6}",
        experiment=experiment,
        trials=3,
        suite_commit="a" * 40,
        guidelines="guidelines/convex.md" if guidelines else None,
        guidelines_sha256=guidelines,
        evals=dict.fromkeys(EVALS, make_eval_plan()),
    )


def with_reports(folder: Path) -> Workspace:
    """The same with a report on the run of zeta/gamma."""
    from convex_evals.reports.files import Folder, write
    from convex_evals.reports.reporter import Reporter
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(None, None, folder)
    reporter = Reporter(workspace, Folder(folder / "reports"), None, lambda line: None)
    run = RunStore(workspace.runs_dir).opened("zeta/gamma", "2026-01-21", "default-21000000")
    assert run is not None
    for report, found in reporter.reports([run], None):
        write(found, reporter.text(report, found))
    return workspace


def make_library(folder: Path) -> Library:
    return Library(make_workspace(folder), live=False)
