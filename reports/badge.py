"""A badge: how many claims hold, on a ground whose colour only repeats what the words say."""

from __future__ import annotations

from reports import words
from reports.cases import KNOWN
from reports.html import attr, text
from reports.model import RunView

NAME = "onecall"
# White on each of these keeps a contrast of 4.5 or more.
COLOURS = {"good": "#12623a", "known": "#86400c", "bad": "#a0141c", "open": "#4c535b"}
_PER_LETTER = 6.4


def svg(run: RunView) -> str:
    """The badge of a run; the same rows give the same bytes."""
    said = _words(run)
    left, right = _width(NAME), _width(said)
    colour = COLOURS[_mood(run)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{attr(NAME)}: {attr(said)}"><title>{text(NAME)}: {text(said)}</title>'
        f'<rect width="{left}" height="20" fill="#1d2024"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
        'text-anchor="middle">'
        f'<text x="{left / 2}" y="14" textLength="{left - 12}">{text(NAME)}</text>'
        f'<text x="{left + right / 2}" y="14" textLength="{right - 12}">{text(said)}</text>'
        "</g></svg>\n"
    )


def _width(shown: str) -> int:
    return round(len(shown) * _PER_LETTER) + 12


def _words(run: RunView) -> str:
    if run.footer is None:
        return "unfinished"
    if not run.judged:
        return "nothing judged"
    known = f", {run.counts[KNOWN]} known" if run.counts[KNOWN] else ""
    return f"{run.counts['CONFIRMED']} of {words.plural(run.judged, 'claim')} hold{known}"


def _mood(run: RunView) -> str:
    if run.footer is None or not run.judged:
        return "open"
    if run.footer["exit"]:
        return "bad" if run.counts["REFUTED"] or run.footer["notes"] else "open"
    return "known" if run.counts[KNOWN] else "good"
