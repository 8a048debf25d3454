"""Two sides compared: what is equal, what differs, and what may be said of the difference. Writes nothing."""

from convex_evals.analysis.compare.comparison import Comparison, Means, compare
from convex_evals.analysis.compare.facts import Fact
from convex_evals.analysis.compare.sides import LeftOut, Side
from convex_evals.analysis.compare.to_data import paired_to_data, to_data
from convex_evals.analysis.compare.to_markdown import to_markdown
from convex_evals.analysis.compare.to_section import to_section
from convex_evals.analysis.compare.words import advice, p_value, points, span, verdict_line

__all__ = [
    "Comparison",
    "Fact",
    "LeftOut",
    "Means",
    "Side",
    "advice",
    "compare",
    "p_value",
    "paired_to_data",
    "points",
    "span",
    "to_data",
    "to_markdown",
    "to_section",
    "verdict_line",
]
