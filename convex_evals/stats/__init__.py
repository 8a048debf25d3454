"""How sure one can be of what was counted. Pure; numpy and scipy are imported inside the functions that need them.

docs/statistics.md tells how to read what comes out, and how often it is wrong.
"""

from convex_evals.stats.confirm import (
    CONFIRM_TRIALS,
    SCREEN_TRIALS,
    Confirmation,
    Retested,
    Whole,
    confirm,
    flipped,
    together,
)
from convex_evals.stats.flips import Flip, Surety, by_days, fisher, flips
from convex_evals.stats.multiple import holm
from convex_evals.stats.paired import RELEVANT, Conclusion, EvalPair, Paired, family, paired, total, with_p
from convex_evals.stats.power import ALPHA
from convex_evals.stats.ranks import rank_ranges, tied_ranks
from convex_evals.stats.rates import Rate, Tally, pass_at_k, pass_hat_k, pooled, wilson

__all__ = [
    "ALPHA",
    "CONFIRM_TRIALS",
    "RELEVANT",
    "SCREEN_TRIALS",
    "Conclusion",
    "Confirmation",
    "EvalPair",
    "Flip",
    "Paired",
    "Rate",
    "Retested",
    "Surety",
    "Tally",
    "Whole",
    "by_days",
    "confirm",
    "family",
    "fisher",
    "flipped",
    "flips",
    "holm",
    "paired",
    "pass_at_k",
    "pass_hat_k",
    "pooled",
    "rank_ranges",
    "tied_ranks",
    "together",
    "total",
    "wilson",
    "with_p",
]
