"""Kernels of single steps as bars over time: several rows on one axis, and what they add up to.

Shown is the note ``chart`` of the kind ``timeline`` of a case: rows with start and duration of
each kernel in microseconds, beside sums over the whole trace. Text stands outside of the SVG, so
that it keeps its size however wide a page is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any

from reports import words
from reports.cases import Case, Row
from reports.drawing import finite, table
from reports.html import attr, bdi, tag, text

KIND = "timeline"
MOST_ROWS, MOST_BARS = 6, 2000
# A row of more bars is also shown closer, such that about so many can be told apart.
FEW_BARS, CLOSE_BARS = 48, 20
WIDTH, HEIGHT = 1000, 10
# Shorter is below what a profiler tells; longer is no step.
_LEAST_US, _MOST_US = 1e-3, 1e12
_QUARTERS = 4
_NICE = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10)
GAP, BUSY, SPAN = "typical gap, us", "busy, us", "span, us"
# What a row says of its whole trace, and how the table heads it.
_SUMS = {
    "launches": "launches",
    "kernels": "kernels",
    SPAN: "length, µs",
    BUSY: "busy, µs",
    GAP: "typical gap, µs",
    "typical kernel, us": "typical kernel, µs",
}

Bar = tuple[float, float]


@dataclass(frozen=True)
class Lane:
    """One trace: (start, duration) of each kernel in microseconds from the first, by start."""

    name: str
    bars: list[Bar]
    sums: dict[str, float | None]
    left_out: int

    @property
    def end(self) -> float:
        """When the last of the bars has ended."""
        return max((start + duration for start, duration in self.bars), default=0.0)

    def between(self, start: float, end: float) -> Lane:
        """The same from ``start`` to ``end`` alone; a bar that reaches over them stays whole."""
        bars = [(at - start, long) for at, long in self.bars if at < end and at + long > start]
        return Lane(self.name, bars, self.sums, self.left_out)


def lanes(case: Case) -> list[Lane]:
    """The rows that a case asks to be drawn; [] where it asks for no timeline."""
    rows = case.chart.get("rows") if case.chart.get("kind") == KIND else None
    told = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [_lane(row) for row in told[:MOST_ROWS]]


def chart(case: Case) -> str:
    """The rows as bars, the whole of them and, where that shows too little, closer; a table."""
    shown = lanes(case)
    if not shown:
        return ""
    said = _said(case.chart.get("bar"), shown)
    if (more := len(case.chart["rows"]) - len(shown)) > 0:
        said += f" {words.plural(more, 'row')} cannot be shown."
    return tag("div", tag("p", said) + _panels(shown) + _table(shown), "timeline")


def draws(case: Case) -> bool:
    """Whether there is a bar to be seen of what the case asks for."""
    return max((lane.end for lane in lanes(case)), default=0.0) >= _LEAST_US


def _lane(row: Row) -> Lane:
    starts, durations = (
        each if isinstance(each := row.get(name), list) else []
        for name in ("start, us", "duration, us")
    )
    pairs = [(finite(a), finite(b)) for a, b in zip(starts, durations, strict=False)]
    bars = sorted((a, b) for a, b in pairs if a is not None and b is not None and _fits(a, b))
    first = bars[0][0] if bars else 0.0
    kept = [(start - first, duration) for start, duration in bars[:MOST_BARS]]
    sums = {name: finite(row.get(name)) for name in _SUMS}
    whole = max(len(starts), len(durations), int(min(sums["kernels"] or 0, _MOST_US)))
    return Lane(str(row.get("name", "")), kept, sums, whole - len(kept))


def _fits(start: float, duration: float) -> bool:
    return abs(start) <= _MOST_US and 0 <= duration <= _MOST_US


def axis(length: float) -> float:
    """The next length whose quarters are round numbers.

    >>> axis(33_120), axis(4.0)
    (36000.0, 4.0)
    """
    quarter = length / _QUARTERS
    decade = 10.0 ** floor(log10(quarter))
    step = next((n for n in _NICE if n * decade >= quarter * (1 - 1e-9)), 10)
    return _QUARTERS * step * decade


def _panels(shown: list[Lane]) -> str:
    whole = max(lane.end for lane in shown)
    if whole < _LEAST_US:
        return ""
    drawn = _panel("The whole of each", shown, axis(whole))
    if max(len(lane.bars) for lane in shown) > FEW_BARS:
        length = axis(CLOSE_BARS * max(lane.end / max(1, len(lane.bars)) for lane in shown))
        closer = [_from_middle(lane, length) for lane in shown]
        drawn += _panel("Closer, from the middle of each", closer, length)
    return drawn


def _from_middle(lane: Lane, length: float) -> Lane:
    """``length`` microseconds from the kernel in the middle on; less only of a shorter trace."""
    middle = lane.bars[len(lane.bars) // 2][0] if lane.bars else 0.0
    start = min(middle, max(0.0, lane.end - length))
    return lane.between(start, start + length)


def _panel(caption: str, shown: list[Lane], length: float) -> str:
    across = f"{caption}: {words.number(length)} µs across"
    drawn = "".join(_strip(lane, length) for lane in shown)
    ticks = [words.number(length * n / _QUARTERS) for n in range(_QUARTERS)]
    under = "".join(f"<span>{tick}</span>" for tick in ticks)
    below = f'<div class="ticks" aria-hidden="true">{under}</div>'
    return tag("figure", f"<figcaption>{text(across)}</figcaption>{drawn}{below}")


def _strip(lane: Lane, length: float) -> str:
    """One row: its name, and its bars on an axis of ``length`` microseconds."""
    bars = words.plural(len(lane.bars), "bar")
    spoken = f"{lane.name}: {bars} on {words.number(length)} microseconds"
    grid = "".join(f"M{WIDTH * n // _QUARTERS} 0v{HEIGHT}" for n in range(1, _QUARTERS))
    return (
        f'<span class="lane">{bdi(lane.name)}</span>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{attr(spoken)}"><path class="grid" d="{grid}"/>'
        f'<path class="bars" d="{_path(lane.bars, WIDTH / length)}"/></svg>'
    )


def _path(bars: list[Bar], scale: float) -> str:
    """A rectangle for each bar, cut off at the ends of the axis; what has no width has none."""
    parts = []
    for start, duration in bars:
        left, right = (min(max(x * scale, 0.0), WIDTH) for x in (start, start + duration))
        if (wide := f"{right - left:.3f}") != "0.000":
            parts.append(f"M{left:.3f} 0h{wide}v{HEIGHT}h-{wide}z")
    return "".join(parts)


def _said(bar: Any, shown: list[Lane]) -> str:
    """What the bars are, what lies between them, and what is missing."""
    each = bdi(bar) if isinstance(bar, str) and bar else "a kernel"
    said = [f"Each bar is {each}; between bars nothing ran."]
    said += ["The profiler that recorded them makes launches slower, and so gaps wider."]
    known = [(lane.name, gap) for lane in shown if (gap := lane.sums[GAP]) is not None]
    if known:
        gaps = [f"{words.number(gap)} µs {bdi(name)}" for name, gap in known]
        said += [f"Typical gap: {words.listed(gaps)}."]
    for lane in shown:
        if lane.left_out:
            whole = words.plural(len(lane.bars) + lane.left_out, "kernel")
            said += [f"Of {bdi(lane.name)}, {len(lane.bars):,} of {whole} are drawn."]
    return " ".join(said)


def _table(shown: list[Lane]) -> str:
    rows = []
    for lane in shown:
        cells = [words.number(lane.sums[name]) for name in _SUMS]
        rows.append([bdi(lane.name), *cells, words.number(_share(lane))])
    return table("What they add up to", ["step", *_SUMS.values(), "busy share"], rows)


def _share(lane: Lane) -> float | None:
    busy, span = lane.sums[BUSY], lane.sums[SPAN]
    return busy / span if busy is not None and span else None
