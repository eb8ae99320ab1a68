"""What all charts share: the page's colours, matplotlib without anybody's settings, inline SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from math import isfinite
from typing import Any

from reports import words
from reports.html import attr, plain, text

# Stand-ins that the page's style sheet replaces by its own colours, dark or light.
INK, FAINT = "#010101", "#020202"
SERIES = tuple(f"#0300{n:02x}" for n in range(6))
MARKERS = "osD^vX"
TEXT_SIZE = 10
_SETTINGS: Any = {"svg.fonttype": "none", "font.size": TEXT_SIZE, "text.parse_math": False}

Size = tuple[float, float]


def drawn(draw: Callable[[Any], None], *, salt: str, title: str, size: Size = (5.2, 3.2)) -> str:
    """The SVG of what ``draw`` puts into a figure of ``size`` inches.

    ``salt`` makes its ids the page's only ones, ``title`` is what a screen reader says.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # The page's fonts draw the text, so it does not matter which glyphs matplotlib's lack.
        warnings.simplefilter("ignore")
        # Nobody's own settings may change the drawing.
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS | {"svg.hashsalt": plain(salt)})
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _inline(out.getvalue(), salt, title)


def literal(name: str) -> str:
    """``name`` as matplotlib shows it: a leading underscore would hide a series."""
    shown = plain(name)
    return f" {shown}" if shown.startswith("_") else shown


def dress(axes: Any, axis: str) -> None:
    """The page's look: quiet grid and spines, numbers as the page writes them."""
    axes.set_xlabel(literal(axis), color=INK)
    axes.grid(visible=True, color=FAINT, linewidth=0.6)
    axes.tick_params(which="both", colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(FAINT)
    for each in (axes.xaxis, axes.yaxis):
        each.set_major_formatter(lambda value, _: words.number(float(value)))
        each.set_minor_formatter("")


def finite(value: Any) -> float | None:
    """``value`` where it is a finite number, else None: a ledger's notes may hold anything."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def table(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    """The table beside a chart. Heads and cells are HTML; the first cell of a row names it."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{attr(caption)}">'
        f"<table><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _inline(svg: str, salt: str, title: str) -> str:
    """The drawing made fit to stand many times in one page: no header, own ids, page's colours."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    own = re.sub(r"\W+", "-", salt)
    svg = re.sub(r'\bid="', f'id="{own}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{own}-", svg)
    svg = svg.replace(INK, "currentColor").replace(FAINT, "var(--rule)")
    for index, colour in enumerate(SERIES):
        svg = svg.replace(colour, f"var(--series-{index + 1})")
    size = re.compile(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>')
    return size.sub(rf'<svg class="chart" role="img" aria-label="{attr(title)}" \1>', svg, count=1)
