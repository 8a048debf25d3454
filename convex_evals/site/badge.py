"""The best model as a badge for a README."""

from __future__ import annotations

from xml.sax.saxutils import escape

from convex_evals.analysis.ranking import Leaderboard
from convex_evals.render.numbers import ends, percent
from convex_evals.text import shortened, spelled_out

_WIDTH = 6.6  # of a character at 11 px, about
_LONGEST = 60


def best_badge(board: Leaderboard) -> bytes:
    """Of the first experiment that is ranked: who is best, with the interval over evals of this kind."""
    standing = board.rankings[0].standings[0] if board.rankings and board.rankings[0].standings else None
    if standing is None:
        return _badge("convex evals", "no runs yet")
    name = shortened(spelled_out(standing.latest.model), _LONGEST)
    provisional = ", provisional" if standing.provisional else ""
    return _badge("best at Convex", f"{name} {percent(standing.rate)} ({ends(standing.rate.interval)}{provisional})")


def _badge(label: str, value: str) -> bytes:
    left, right = (round(_WIDTH * len(text)) + 12 for text in (label, value))
    shown = [escape(text, {'"': "&quot;"}) for text in (label, value)]
    texts = "".join(
        f'<text x="{x}" y="14" text-anchor="middle">{text}</text>'
        for x, text in zip((left / 2, left + right / 2), shown, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{shown[0]}: {shown[1]}"><title>{shown[0]}: {shown[1]}</title>'
        f'<rect width="{left}" height="20" fill="#444"/><rect x="{left}" width="{right}" height="20" fill="#0b6b4f"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g></svg>\n'
    ).encode()
