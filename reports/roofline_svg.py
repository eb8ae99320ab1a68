"""The drawing of a roofline: two roofs, the ridge between them, and marked passes below."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10, sqrt
from typing import Any

from reports import words
from reports.drawing import INK, MARKERS, SERIES, drawn, dress, literal
from reports.labels import Box, placed

GIGA, TERA = 1e9, 1e12
_MARK_SIZE = 10.0
# Narrower than other charts: on a small screen its many numbers keep their size.
_SIZE = (4.6, 4.4)
# Fewer than a decade across, an axis may have no tick with a number.
_WIDE = 20.0
# Of more marks no reader could tell whose text is whose.
_MOST_LABELS = 60


@dataclass(frozen=True)
class Roofs:
    """Bytes and operations a second at best; None where no probe told."""

    bytes_per_s: float | None
    operations_per_s: float | None

    @property
    def ridge(self) -> float | None:
        """Operations a byte at which both bounds are equal."""
        if self.bytes_per_s is None or self.operations_per_s is None:
            return None
        return self.operations_per_s / self.bytes_per_s

    def at(self, intensity: float) -> float | None:
        """Operations a second that are possible there, as far as the probes tell."""
        by_memory = None if self.bytes_per_s is None else self.bytes_per_s * intensity
        known = [bound for bound in (by_memory, self.operations_per_s) if bound is not None]
        return min(known, default=None)


@dataclass(frozen=True)
class Mark:
    """A case as a point: operations a byte and a second, each None where it has no place."""

    case: str
    series: str
    label: str
    x: float | None
    y: float | None

    @property
    def place(self) -> tuple[float, float] | None:
        """Where it is drawn; None where it cannot be."""
        return None if self.x is None or self.y is None else (self.x, self.y)


def svg(salt: str, marks: list[Mark], roofs: Roofs) -> str:
    """The drawing; every one of ``marks`` has a place."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_yscale("log")
        dress(axes, "operations a byte")
        axes.set_ylabel("TFLOP/s", color=INK)
        ends = _limits(axes, marks, roofs)
        _draw_roofs(axes, roofs, ends)
        _draw_marks(axes, marks)
        figure.legend(loc="outside lower left", frameon=False, labelcolor=INK)
        if len(marks) <= _MOST_LABELS:
            _label(figure, axes, marks, roofs)

    series = sorted({mark.series for mark in marks})
    title = f"Roofline: {words.listed(series)}; TFLOP/s over operations a byte, both logarithmic"
    return drawn(draw, salt=salt, title=title, size=_SIZE)


def _limits(axes: Any, marks: list[Mark], roofs: Roofs) -> tuple[float, float]:
    """Set both axes so that marks, ridge and roofs lie inside; the ends of the first."""
    across = [x for x in (*(mark.x for mark in marks), roofs.ridge) if x is not None]
    left, right = _wide(min(across) / 2, max(across) * 4)
    up = [mark.y for mark in marks if mark.y is not None]
    up += [roof for x in (left, right) if (roof := roofs.at(x)) is not None]
    axes.set_xlim(left, right)
    axes.set_ylim(_wide(min(up) / TERA / 2, max(up) / TERA * 2))
    return left, right


def _wide(low: float, high: float) -> tuple[float, float]:
    factor = max(1.0, sqrt(_WIDE * low / high))
    return low / factor, high * factor


def _draw_roofs(axes: Any, roofs: Roofs, ends: tuple[float, float]) -> None:
    turn, (left, right) = roofs.ridge, ends
    if roofs.bytes_per_s is not None:
        line = [left, right if turn is None else turn]
        heights = [roofs.bytes_per_s * x / TERA for x in line]
        label = f"read bandwidth, {_three(roofs.bytes_per_s / GIGA)} GB/s"
        axes.plot(line, heights, color=INK, linewidth=1.6, label=label)
    if roofs.operations_per_s is not None:
        height = roofs.operations_per_s / TERA
        line = [left if turn is None else turn, right]
        label = f"16-bit matmul, {_three(height)} TFLOP/s"
        axes.plot(line, [height, height], "--", color=INK, linewidth=1.6, label=label)
        if turn is not None:
            foot = [axes.get_ylim()[0], height]
            label = f"ridge, {_three(turn)} operations a byte"
            axes.plot([turn, turn], foot, ":", color=INK, linewidth=1, label=label)


def _three(value: float) -> str:
    """Three digits: a legend is no table."""
    return words.number(float(f"{value:.3g}"))


def _looks(marks: list[Mark]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each series."""
    names = sorted({mark.series for mark in marks})
    return {
        name: (SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)])
        for index, name in enumerate(names)
    }


def _draw_marks(axes: Any, marks: list[Mark]) -> None:
    for name, (colour, marker) in _looks(marks).items():
        points = [mark.place for mark in marks if mark.series == name and mark.place]
        look = {"color": colour, "marker": marker, "markersize": 5, "linestyle": "None"}
        across, up = [x for x, _ in points], [y / TERA for _, y in points]
        axes.plot(across, up, label=literal(name), **look)


def _label(figure: Any, axes: Any, marks: list[Mark], roofs: Roofs) -> None:
    """Write beside each mark what it is, where there is room."""
    figure.draw_without_rendering()  # only then do the axes have their place
    unit = 72 / figure.dpi

    def at(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y / TERA))
        return float(across) * unit, float(up) * unit

    frame = [unit * float(side) for side in axes.bbox.extents]
    lines = [Box(*at(x, y), 2.0, 2.0) for x, y in _along(axes, roofs)]
    known = [(mark.place, mark) for mark in marks if mark.place]
    points = [(*at(*place), literal(mark.label)) for place, mark in known]
    found = placed(points, inside=_box(*frame), avoid=lines, size=_MARK_SIZE)
    looks = _looks(marks)
    for (x, y, label), box, ((across, up), mark) in zip(points, found, known, strict=True):
        if box is not None:
            by, where = (box.x - x, box.y - y), (across, up / TERA)
            how = {"ha": "center", "va": "center", "fontsize": _MARK_SIZE}
            how |= {"color": looks[mark.series][0], "textcoords": "offset points"}
            axes.annotate(label, where, xytext=by, **how).set_in_layout(False)


def _box(left: float, bottom: float, right: float, top: float) -> Box:
    middle = ((left + right) / 2, (bottom + top) / 2)
    return Box(*middle, (right - left) / 2, (top - bottom) / 2)


def _along(axes: Any, roofs: Roofs) -> list[tuple[float, float]]:
    """Points close to each other on the roofs and on the ridge."""
    across, up = _spread(*axes.get_xlim()), _spread(*axes.get_ylim())
    on_roofs = [(x, roof) for x in across if (roof := roofs.at(x)) is not None]
    ridge, top = roofs.ridge, roofs.operations_per_s
    if ridge is None or top is None:
        return on_roofs
    return on_roofs + [(ridge, y * TERA) for y in up if y * TERA <= top]


def _spread(low: float, high: float) -> list[float]:
    low, high = log10(low), log10(high)
    return [10 ** (low + (high - low) * n / 200) for n in range(201)]
