"""What stands in front of a result."""

from __future__ import annotations

MARKS = {"passed": "✓", "failed": "✗", "unscored": "?", "received": "·", "off": "!"}
