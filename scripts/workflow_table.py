"""Which job of which workflow has what, printed by cog into docs/automation.md from the workflow files themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

WORKFLOWS = Path(__file__).parents[1] / ".github" / "workflows"
_SECRET = re.compile(r"secrets\.(\w+)")

# What runs there besides the tool of the branch that started it, and its pinned packages.
EXECUTES = {
    "ask-and-grade.yml": {
        "plan": "nothing",
        "ask": "nothing",
        "grade": "**what models wrote**, in the sandbox",
        "deliver": "nothing",
        "publish": "nothing",
    },
    "audit.yml": {"audit": "nothing"},
    "ci.yml": {"check": "the tests of `main`"},
    "soak.yml": {"check": "the tests of `main`"},
    "guidelines-comment.yml": {"diff": "**the pull request**", "comment": "nothing, and checks nothing out"},
    "leaderboard.yml": {"deploy": "`npx convex`, of a pinned lockfile"},
    "nightly.yml": {"validate": "the suite of `main`, in the sandbox", "issue": "nothing, and checks nothing out"},
    "pages.yml": {"build": "nothing", "deploy": "nothing, and checks nothing out"},
    "pr.yml": {"check": "**the pull request**", "validate": "**the pull request**, its evals in the sandbox"},
    "release.yml": {
        "build": "the tag",
        "attest": "nothing, and checks nothing out",
        "publish": "nothing, and checks nothing out",
        "release": "nothing, and checks nothing out",
    },
    "validate-guidelines.yml": {"deliver": "nothing; the tool is the base branch's"},
    "validation-round.yml": {
        "ask": "nothing; the tool is the base branch's",
        "grade": "**what models wrote and the pull request's graders**, in the sandbox; the tool is the base branch's",
    },
}


def table() -> str:
    lines = ["| workflow | job | secrets | may write | executes besides the tool |", "|---|---|---|---|---|"]
    for path in sorted(WORKFLOWS.glob("*.yml")):
        workflow = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        for name, job in workflow["jobs"].items():
            if "uses" not in job:  # what it calls has jobs of its own here
                cells = [f"`{path.name}`", name, _secrets(job), _rights(job), EXECUTES[path.name][name]]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _secrets(job: dict[str, Any]) -> str:
    names = set(_SECRET.findall(str(job)))
    keys = {name for name in names if name.endswith("_API_KEY")}
    shown = [*(["keys of models"] if keys else []), *(f"`{name}`" for name in sorted(names - keys))]
    return ", ".join(shown) or "none"


def _rights(job: dict[str, Any]) -> str:
    return ", ".join(_written(job.get("permissions") or {})) or "nothing"


def _written(permissions: dict[str, str]) -> Iterator[str]:
    words = {"contents": "the repository", "id-token": "an identity token", "pull-requests": "comments"}
    return (words.get(name, name) for name, right in permissions.items() if right == "write")
