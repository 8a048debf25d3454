"""The areas of the conformance table, as rows of a Markdown table: what `conformance/areas.ts` has written last."""

from __future__ import annotations

import json
from pathlib import Path

SUMMARY = Path(__file__).parents[1] / "convex_evals" / "node" / "backend" / "conformance" / "summary.json"


def table() -> str:
    areas = json.loads(SUMMARY.read_text(encoding="utf-8"))
    rows = ["| area | what it is about | rows | of them accepted by Convex |", "|---|---|---|---|"]
    rows += [f"| `{area}` | {each['about']} | {each['rows']} | {each['accepted']} |" for area, each in areas.items()]
    total = [sum(each[key] for each in areas.values()) for key in ("rows", "accepted")]
    return "\n".join([*rows, f"| all | | {total[0]} | {total[1]} |"])
