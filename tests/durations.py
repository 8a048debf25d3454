"""How long each group of tests takes: the longest start first, so that no worker is left with one at the end.

Recorded in durations.json by `python scripts/check.py [--full] --record`.
"""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")
# Shorter groups fill the gaps, in whatever order.
_SHORT_SECONDS = 2


def recorded(tier: str) -> dict[str, int]:
    """Return the seconds of each group that is not short, on one worker, in a tier; in --full where it is not known."""
    tiers: dict[str, dict[str, int]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return tiers.get(tier) or tiers["--full"]


def record(tier: str, seconds: dict[str, float]) -> None:
    """Replace what is recorded of a tier."""
    tiers = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    tiers[tier] = {group: round(each) for group, each in seconds.items() if each >= _SHORT_SECONDS}
    RECORDED.write_text(f"{json.dumps(tiers, indent=2, sort_keys=True)}\n", encoding="utf-8")
