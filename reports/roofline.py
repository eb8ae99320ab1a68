"""Measured passes under the two roofs of their device, as a chart and as a table.

Shown are the cases whose note ``chart`` is of the kind ``roofline``: ``x`` is their operations a
byte, the point ``operations a second`` their rate. Roofs come from the run's probes and from the
``roofs`` of the notes, which are probed beside the passes: the highest counts, as it bounds best.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reports import words
from reports.cases import Case
from reports.drawing import finite, table
from reports.html import bdi, tag, text
from reports.model import ClaimView
from reports.roofline_svg import GIGA, TERA, Mark, Roofs, svg

KIND, RATE = "roofline", "operations a second"
BANDWIDTH, MATMUL = "read bandwidth, GB/s", "16-bit matmul, TFLOP/s"
# What lies outside has no place on an axis that a reader could use.
_LEAST, _MOST = 1e-30, 1e30
_LONGEST_MARK, _LONGEST_SERIES = 12, 40


def chart(claim: ClaimView) -> str:
    """Chart and table of a claim's cases that ask for it; empty without any."""
    cases = [case for case in claim.cases if case.chart.get("kind") == KIND]
    if not cases:
        return ""
    marks = sorted(map(_mark, cases), key=lambda m: (m.series, m.x or 0.0, m.case))
    roofs = roofs_of([claim.probes, *(case.chart.get("roofs") for case in cases)])
    some = [mark for mark in marks if mark.place]
    figure = f"<figure>{svg(claim.id, some, roofs)}</figure>" if some else ""
    beside = f"<p>{text(_said(roofs))}</p>{_table(marks, roofs)}"
    return tag("div", figure + tag("div", beside), "sweep")


def _mark(case: Case) -> Mark:
    told = (case.chart.get(name) for name in ("series", "mark"))
    series, label = (each if isinstance(each, str) else "" for each in told)
    return Mark(
        case=case.name,
        series=_short(series, _LONGEST_SERIES) or "passes",
        label=_short(label, _LONGEST_MARK),
        x=_usable(case.x),
        y=_usable(case.points.get(RATE)),
    )


def _short(told: str, most: int) -> str:
    return told if len(told) <= most else f"{told[: most - 1]}…"


def _usable(value: Any) -> float | None:
    number = finite(value)
    return number if number is not None and _LEAST <= number <= _MOST else None


def roofs_of(told: Iterable[Any]) -> Roofs:
    """The highest bounds of several sets of probes; what is no set, or no number, bounds nothing.

    >>> roofs_of([{"read bandwidth, GB/s": 2}, None, {"read bandwidth, GB/s": "nan"}])
    Roofs(bytes_per_s=2000000000.0, operations_per_s=None)
    """
    probes = [each for each in told if isinstance(each, dict)]

    def best(name: str, size: float) -> float | None:
        found = [_usable(each.get(name)) for each in probes]
        return max((value * size for value in found if value is not None), default=None)

    return Roofs(best(BANDWIDTH, GIGA), best(MATMUL, TERA))


def _said(roofs: Roofs) -> str:
    """What the chart shows, and which roof it lacks."""
    said = "Each mark is the median pass of a case."
    known = {BANDWIDTH: roofs.bytes_per_s, MATMUL: roofs.operations_per_s}
    if lacking := [name for name, value in known.items() if value is None]:
        return f"{said} No probe of {words.listed(lacking)} is kept here: no such roof is drawn."
    return (
        f"{said} No pass can lie above the roofs, the best that this run's probes saw. Left of "
        f"the ridge, at {words.number(float(f'{roofs.ridge:.3g}'))} operations a byte, memory is "
        "the bound; right of it, arithmetic."
    )


def _table(marks: list[Mark], roofs: Roofs) -> str:
    heads = ["case", "mark", "operations a byte", "TFLOP/s", "roof there, TFLOP/s", "share of it"]
    return table("Under the roofs", heads, [_cells(mark, roofs) for mark in marks])


def _cells(mark: Mark, roofs: Roofs) -> list[str]:
    roof = None if mark.x is None else roofs.at(mark.x)
    share = None if roof is None or mark.y is None else mark.y / roof
    values = [mark.x, *(None if v is None else v / TERA for v in (mark.y, roof)), share]
    return [bdi(mark.case), bdi(mark.label), *map(words.number, values)]
