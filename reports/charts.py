"""A sweep as a chart and as a table. The same points give the same bytes."""

from __future__ import annotations

import io
import re
import warnings
from math import isfinite
from typing import Any

from reports import words
from reports.cases import Case
from reports.html import attr, bdi, plain, tag, text
from reports.model import ClaimView

# Stand-ins that the page's style sheet replaces by its own colours, dark or light.
_INK, _FAINT = "#010101", "#020202"
_SERIES = tuple(f"#0300{n:02x}" for n in range(6))
_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_MARKERS = "osD^vX"
_SETTINGS: Any = {"svg.fonttype": "none", "font.size": 10, "text.parse_math": False}
_DECADE = 10.0

Point = tuple[float, float]


def sweep(claim: ClaimView) -> str:
    """Chart and table of a claim's cases that carry ``x`` and ``points``; empty without any."""
    cases = sorted((c for c in claim.cases if c.points), key=_place)
    if not cases:
        return ""
    names = sorted({name for case in cases for name in case.points})
    drawn = {
        name: [(c.x, c.points[name]) for c in cases if c.x is not None and name in c.points]
        for name in names
    }
    finite = {n: [p for p in points if all(map(isfinite, p))] for n, points in drawn.items()}
    several = any(len(points) > 1 for points in finite.values())
    chart = _svg(claim, finite, axis_name([c.name for c in cases])) if several else ""
    caption = f"Across the cases: {words.listed(names)}"
    figure = f"<figure>{chart}</figure>" if chart else ""
    return tag("div", figure + _table(cases, names, caption), "sweep")


def _place(case: Case) -> tuple[float, str]:
    return (float("inf") if case.x is None else case.x, case.name)


def axis_name(case_names: list[str]) -> str:
    """What x is, as far as the cases' names tell: the words they share beside a number.

    >>> axis_name(["64 tokens", "1,024 tokens"]), axis_name(["short", "long"])
    ('tokens', 'x')
    """
    rest = {" ".join(re.sub(r"[\d.,_]+", " ", name).split()).strip(" =:") for name in case_names}
    return (rest.pop() or "x") if len(rest) == 1 else "x"


def _table(cases: list[Case], names: list[str], caption: str) -> str:
    axis = axis_name([c.name for c in cases])
    heads = "".join(f'<th scope="col">{bdi(h)}</th>' for h in ("case", axis, *names))
    rows = "".join(
        f'<tr><th scope="row">{bdi(c.name)}</th><td>{words.number(c.x)}</td>'
        + "".join(f"<td>{words.number(c.points[n]) if n in c.points else ''}</td>" for n in names)
        + "</tr>"
        for c in cases
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{attr(caption)}">'
        f"<table><caption>{text(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _svg(claim: ClaimView, series: dict[str, list[Point]], axis: str) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # The page's fonts draw the text, so it does not matter which glyphs matplotlib's lack.
        warnings.simplefilter("ignore")
        # Nobody's own settings may change the drawing.
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS | {"svg.hashsalt": plain(claim.id)})
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        axes = figure.subplots()
        for index, (name, points) in enumerate(series.items()):
            if points:
                _draw(axes, index, name, points)
        _scales(axes, [p for points in series.values() for p in points])
        _dress(axes, axis)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _inline(out.getvalue(), claim.id, f"Chart of {words.listed(list(series))} over {axis}")


def _draw(axes: Any, index: int, name: str, points: list[Point]) -> None:
    look, lap = index % len(_SERIES), index // len(_SERIES)
    axes.plot(
        *zip(*points, strict=True),
        color=_SERIES[look],
        linestyle=_STYLES[look],
        marker=_MARKERS[(look + lap) % len(_MARKERS)],
        markersize=5,
        label=_literal(name),
    )


def _literal(name: str) -> str:
    """``name`` as matplotlib shows it: a leading underscore would hide a series."""
    shown = plain(name)
    return f" {shown}" if shown.startswith("_") else shown


def _scales(axes: Any, points: list[Point]) -> None:
    for values, scale in (
        ([x for x, _ in points], axes.set_xscale),
        ([y for _, y in points], axes.set_yscale),
    ):
        if values and min(values) > 0 and max(values) / min(values) > _DECADE:
            scale("log")


def _dress(axes: Any, axis: str) -> None:
    axes.set_xlabel(_literal(axis), color=_INK)
    axes.grid(visible=True, color=_FAINT, linewidth=0.6)
    axes.tick_params(which="both", colors=_INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(_FAINT)
    for each in (axes.xaxis, axes.yaxis):
        each.set_major_formatter(lambda value, _: words.number(float(value)))
        each.set_minor_formatter("")
    axes.legend(frameon=False, labelcolor=_INK)


def _inline(svg: str, salt: str, title: str) -> str:
    """The drawing made fit to stand many times in one page: no header, own ids, page's colours."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    own = re.sub(r"\W+", "-", salt)
    svg = re.sub(r'\bid="', f'id="{own}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{own}-", svg)
    svg = svg.replace(_INK, "currentColor").replace(_FAINT, "var(--rule)")
    for index, colour in enumerate(_SERIES):
        svg = svg.replace(colour, f"var(--series-{index + 1})")
    size = re.compile(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>')
    return size.sub(rf'<svg class="chart" role="img" aria-label="{attr(title)}" \1>', svg, count=1)
