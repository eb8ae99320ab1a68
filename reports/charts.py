"""A sweep as a chart and as a table. The same points give the same bytes."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from reports import words
from reports.cases import Case
from reports.drawing import INK, MARKERS, SERIES, drawn, dress, literal, table
from reports.html import bdi, tag
from reports.model import ClaimView

_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_DECADE = 10.0

Point = tuple[float, float]


def sweep(claim: ClaimView) -> str:
    """Chart and table of a claim's cases that carry ``x`` and ``points``; empty without any."""
    cases = sorted((c for c in claim.cases if c.points), key=_place)
    if not cases:
        return ""
    names = sorted({name for case in cases for name in case.points})
    series = {
        name: [(c.x, c.points[name]) for c in cases if c.x is not None and name in c.points]
        for name in names
    }
    sound = {n: [p for p in points if all(map(isfinite, p))] for n, points in series.items()}
    several = any(len(points) > 1 for points in sound.values())
    chart = _svg(claim, sound, axis_name([c.name for c in cases])) if several else ""
    figure = f"<figure>{chart}</figure>" if chart else ""
    return tag("div", figure + _table(cases, names), "sweep")


def _place(case: Case) -> tuple[float, str]:
    return (float("inf") if case.x is None else case.x, case.name)


def axis_name(case_names: list[str]) -> str:
    """What x is, as far as the cases' names tell: the words they share beside a number.

    >>> axis_name(["64 tokens", "1,024 tokens"]), axis_name(["short", "long"])
    ('tokens', 'x')
    """
    rest = {" ".join(re.sub(r"[\d.,_]+", " ", name).split()).strip(" =:") for name in case_names}
    return (rest.pop() or "x") if len(rest) == 1 else "x"


def _table(cases: list[Case], names: list[str]) -> str:
    heads = [bdi(head) for head in ("case", axis_name([c.name for c in cases]), *names)]
    rows = [
        [bdi(c.name), words.number(c.x)]
        + [words.number(c.points[n]) if n in c.points else "" for n in names]
        for c in cases
    ]
    return table(f"Across the cases: {words.listed(names)}", heads, rows)


def _svg(claim: ClaimView, series: dict[str, list[Point]], axis: str) -> str:
    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for index, (name, points) in enumerate(series.items()):
            if points:
                _draw(axes, index, name, points)
        _scales(axes, [p for points in series.values() for p in points])
        dress(axes, axis)
        axes.legend(frameon=False, labelcolor=INK)

    title = f"Chart of {words.listed(list(series))} over {axis}"
    return drawn(draw, salt=claim.id, title=title)


def _draw(axes: Any, index: int, name: str, points: list[Point]) -> None:
    look, lap = index % len(SERIES), index // len(SERIES)
    axes.plot(
        *zip(*points, strict=True),
        color=SERIES[look],
        linestyle=_STYLES[look],
        marker=MARKERS[(look + lap) % len(MARKERS)],
        markersize=5,
        label=literal(name),
    )


def _scales(axes: Any, points: list[Point]) -> None:
    for values, scale in (
        ([x for x, _ in points], axes.set_xscale),
        ([y for _, y in points], axes.set_yscale),
    ):
        if values and min(values) > 0 and max(values) / min(values) > _DECADE:
            scale("log")
