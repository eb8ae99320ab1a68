"""The page of a run, made of its ledger rows alone: the same rows give the same bytes.

pytest-html writes the file around it; ``page/page.js`` folds that file's own list of tests away.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from reports.cases import Row
from reports.claims_html import claims_table
from reports.detail_html import badge
from reports.html import tag
from reports.model import view
from reports.summary_html import band, conditions, families, look_first, tools

HERE = Path(__file__).parent / "page"
CSS = HERE / "page.css"

_VERDICTS = {
    "CONFIRMED": "The limit is met: by the whole interval of a share or a median, else by each "
    "sample.",
    "REFUTED": "It is not. The row says by how much, with which input, and how to see it again.",
    "REFUTED (known)": "Refuted, and listed with a reason and a date to look again.",
    "INCONCLUSIVE": "The interval contains the limit: too few samples to tell.",
    "NOT APPLICABLE": "The claim speaks of something this model, engine or machine lacks.",
    "VOID": "No authority: a planted fault was missed, a floor beaten, the machine disturbed, or "
    "nothing was measured.",
}


def body(rows: Iterable[Row]) -> str:
    """The page as HTML text. ``rows`` are a ledger's, in file order, finished or not."""
    run = view(rows)
    claims = (
        '<section class="list" id="claims" aria-labelledby="claims-head">'
        f'<h2 id="claims-head">Claims</h2>{tools(run)}{families(run)}{claims_table(run)}</section>'
    )
    main = "".join([band(run), look_first(run), claims, _guide(), conditions(run)])
    return (
        '<div id="onecall" lang="en"><a class="skip" href="#claims">Skip to the claims</a>'
        f"<main>{main}</main></div>\n<script>{_script()}</script>"
    )


@cache
def _script() -> str:
    return (HERE / "page.js").read_text(encoding="utf-8")


def _guide() -> str:
    verdicts = "".join(
        f"<div><dt>{badge(v)}</dt><dd>{said}</dd></div>" for v, said in _VERDICTS.items()
    )
    said = (
        "<p><b>Claimed</b> is the source's number under the source's conditions. <b>Limit</b> is "
        "what decides here, with the reason for exactly that value. <b>Interval</b>: the exact "
        "95 % interval of a share or of a median. <b>Samples a to b</b>: the smallest and the "
        "largest, where a claim speaks of every sample, or where the interval of a median of few "
        "samples reaches just as far.</p>"
        "<p><b>Controls</b> are planted faults. Each goes through the same measurement and the "
        "same rule as the real subject, and has to come out refuted. <b>Floor</b> is a bound from "
        "physics that no right measurement can beat.</p>"
    )
    inside = f'<summary>How to read this page</summary><dl class="guide">{verdicts}</dl>{said}'
    return tag("details", inside, "reading")
