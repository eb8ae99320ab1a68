"""One case on one scale: samples, interval, measured, limit, claimed and floor, as inline SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10

from reports import words
from reports.cases import Case, Row
from reports.html import attr, text

WIDTH, LEFT, RIGHT = 360.0, 12.0, 348.0
AXIS = 36.0
MOST_TICKS = 200
# Beyond this ratio a linear axis would squeeze the small values into its left end.
LINEAR_UP_TO = 100.0

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?")
_BEFORE = re.compile(
    r"(about|above|around|at (least|most)|below|exactly|(fewer|less|more) than|near|nearly|only|"
    r"over|roughly|under|up to|[~≈<>≤≥=]+)?"
)
_RATIO_WORDS = ("ratio", "times", "fold", "multiple", "×")


def claimed_number(figure: Row) -> float | None:
    """The published number in the figure's own unit, or None unless that is beyond doubt.

    Only a lone number counts, after words such as "below", and followed by nothing, by the
    figure's unit, or by an x where the unit is a ratio.

    >>> claimed_number({"claimed": "below 1e-5", "unit": "largest difference"})
    1e-05
    >>> claimed_number({"claimed": "64 vs 139 ms", "unit": "ms"}) is None
    True
    """
    claimed, unit = str(figure["claimed"]).strip(), str(figure["unit"]).strip()
    found = [m for m in _NUMBER.finditer(claimed) if any(c.isdigit() for c in m.group())]
    if len(found) != 1:
        return None
    before, after = claimed[: found[0].start()].strip(), claimed[found[0].end() :].strip()
    if not _BEFORE.fullmatch(before.lower()):
        return None
    is_ratio = after in ("x", "×") and any(word in unit for word in _RATIO_WORDS)
    if after and not is_ratio and not re.fullmatch(re.escape(after) + r"(\W.*)?", unit):
        return None
    return float(found[0].group().replace(",", ""))


@dataclass(frozen=True)
class Scale:
    """Positions of values on the axis: linear, or logarithmic with zero at the left end."""

    low: float
    high: float
    logarithmic: bool
    zero: bool = False

    def at(self, value: float) -> float:
        """The x of ``value`` in the drawing."""
        left = LEFT + 24 if self.zero else LEFT
        if not self.logarithmic:
            part = (value - self.low) / (self.high - self.low)
        elif value <= 0:
            return LEFT
        else:
            part = log10(value / self.low) / log10(self.high / self.low)
        return left + (RIGHT - left) * min(max(part, 0.0), 1.0)


def scale_of(values: Sequence[float], *, share: bool = False) -> Scale:
    """A scale on which all of ``values`` can be told apart as well as one line allows."""
    if share:
        return Scale(0.0, 1.0, logarithmic=False)
    positive = [v for v in values if v > 0]
    if not positive or min(values) < 0 or max(positive) / min(positive) < LINEAR_UP_TO:
        low, high = min(0.0, *values), max(0.0, *values)
        room = (high - low) * 0.06 or 1.0
        return Scale(low - room if low < 0 else low, high + room, logarithmic=False)
    zero = min(values) == 0
    return Scale(min(positive) / 1.5, max(positive) * 1.5, logarithmic=True, zero=zero)


def floor_on_scale(case: Case) -> Row | None:
    """The first floor that is in the figure's unit and bounds what was measured."""
    return next((f for f in case.floors if f["unit"] == case.figure["unit"]), None)


def bar(case: Case) -> str:
    """The case drawn on one scale; empty when there is no number to draw."""
    scale = _scale(case)
    if scale is None:
        return ""
    marks = _marks(case)
    below = [(kind, value) for kind, value in marks if kind != "measured"]
    height = AXIS + 20 + 16 * len(below) + 12
    labels = [("measured", case.estimate or 0.0, 15.0)]
    labels += [(kind, value, _row(n)) for n, (kind, value) in enumerate(below)]
    drawn = [
        _side(case, scale, AXIS - 12, 24),
        _axis(scale, height),
        "" if case.share else _ticks([s for s in case.samples if isfinite(s)], scale),
        _interval(case, scale, AXIS, 7),
        *(_mark(kind, scale.at(value), _row(n) - 9) for n, (kind, value) in enumerate(below)),
        _dot(case, scale, AXIS, 5),
        *(_label(kind, value, scale.at(value), y) for kind, value, y in labels),
    ]
    return (
        f'<svg class="bar" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-label="{attr(_spoken(case, marks, scale))}">{"".join(drawn)}</svg>'
    )


def spark(case: Case) -> str:
    """The same without words, one line high, for a row that has the numbers in text."""
    scale = _scale(case)
    if scale is None:
        return ""
    drawn = [
        _side(case, scale, 2, 28),
        f'<path class="axis" d="M{LEFT:g} 16H{RIGHT:g}"/>',
        _interval(case, scale, 16, 9),
        f'<path class="limit" d="M{scale.at(case.limit):.1f} 0v32"/>',
        _dot(case, scale, 16, 10),
    ]
    inside = "".join(drawn)
    return f'<svg class="bar spark" viewBox="0 0 {WIDTH:g} 32" aria-hidden="true">{inside}</svg>'


def _scale(case: Case) -> Scale | None:
    """The scale that holds everything drawn, or None where something cannot be placed."""
    if case.estimate is None:
        return None
    values = [value for _, value in _marks(case)]
    values += [s for s in case.samples if isfinite(s)]
    values += [end for end in case.bounds if end is not None]
    return scale_of(values, share=case.share is not None) if all(map(isfinite, values)) else None


def _row(number: int) -> float:
    """The base line of a label below the axis: each has a row, so that none collide."""
    return AXIS + 24 + 16 * number


def _marks(case: Case) -> list[tuple[str, float]]:
    found = [("measured", case.estimate), ("limit", case.limit)]
    found.append(("claimed", claimed_number(case.figure)))
    if floor := floor_on_scale(case):
        found.append(("floor", float(floor["floor"])))
    return [(kind, value) for kind, value in found if value is not None]


def _spoken(case: Case, marks: list[tuple[str, float]], scale: Scale) -> str:
    parts = [f"{kind} {words.number(value)}" for kind, value in marks]
    kind = "logarithmic" if scale.logarithmic else "linear"
    return f"{', '.join(parts)}; {words.bounds(case)}; {kind} scale"


def _side(case: Case, scale: Scale, y: float, height: float) -> str:
    """Shades the side of the limit on which the verdict fell; only decided verdicts have one."""
    kind = {"CONFIRMED": "right", "REFUTED": "wrong"}.get(case.verdict["verdict"])
    estimate = case.estimate if case.estimate is not None else case.limit
    if kind is None or estimate == case.limit:
        return ""
    at = scale.at(case.limit)
    x, end = (at, RIGHT + 6) if estimate > case.limit else (LEFT - 6, at)
    return (
        f'<rect class="side {kind}" x="{x:.1f}" y="{y:g}" width="{end - x:.1f}" '
        f'height="{height:g}"/>'
    )


def _axis(scale: Scale, height: float) -> str:
    kind = "log scale" if scale.logarithmic else ""
    low = "0" if scale.zero else words.number(scale.low)
    # The ends are the scale's own, so they are rounded outward by nothing but their digits.
    ends = (
        f'<text class="end" x="{LEFT - 6:g}" y="{height - 3:g}">{text(_short(low))}</text>'
        f'<text class="end" x="{(LEFT + RIGHT) / 2:g}" y="{height - 3:g}" '
        f'text-anchor="middle">{kind}</text>'
        f'<text class="end" x="{RIGHT + 6:g}" y="{height - 3:g}" text-anchor="end">'
        f"{text(_short(words.number(scale.high)))}</text>"
    )
    line = f'<path class="axis" d="M{LEFT:g} {AXIS:g}H{RIGHT:g}"/>'
    gap = f'<path class="gap" d="M{LEFT + 10:g} {AXIS:g}h8"/>' if scale.zero else ""
    return line + gap + ends


def _short(shown: str) -> str:
    """An axis end with two digits: it is no measurement."""
    try:
        return words.number(float(f"{float(shown.replace(',', '')):.2g}"))
    except ValueError:
        return shown


def _ticks(samples: list[float], scale: Scale) -> str:
    step = -(-len(samples) // MOST_TICKS) or 1
    places = sorted({f"{scale.at(s):.1f}" for s in sorted(samples)[::step]})
    path = "".join(f"M{x} {AXIS - 6:g}v12" for x in places)
    return f'<path class="ticks" d="{path}"/>' if path else ""


def _interval(case: Case, scale: Scale, y: float, half: float) -> str:
    if case.bounds == (None, None) or case.bounds_are_extremes:
        return ""
    low, high = case.bounds
    left = LEFT if low is None else scale.at(low)
    right = RIGHT if high is None else scale.at(high)
    ends = "".join(f"M{x:.1f} {y - half:g}v{2 * half:g}" for x in (left, right))
    return f'<path class="interval" d="M{left:.1f} {y:g}H{right:.1f}{ends}"/>'


def _mark(kind: str, x: float, bottom: float) -> str:
    """Limit, claimed or floor on the axis, with a line down to where its label is."""
    if kind == "limit":
        return f'<path class="limit" d="M{x:.1f} {AXIS - 14:g}V{bottom:g}"/>'
    shape = {"claimed": f"{AXIS - 6:g}l6 6l-6 6l-6-6z", "floor": f"{AXIS - 9:g}v18h-5"}[kind]
    leader = f'<path class="leader" d="M{x:.1f} {AXIS:g}V{bottom:g}"/>'
    return f'{leader}<path class="{kind}" d="M{x:.1f} {shape}"/>'


def _dot(case: Case, scale: Scale, y: float, r: float) -> str:
    x = scale.at(case.estimate or 0.0)
    return f'<circle class="measured" cx="{x:.1f}" cy="{y:g}" r="{r:g}"/>'


def _label(kind: str, value: float, x: float, y: float) -> str:
    shown = words.number(value)
    half = 3.4 * len(f"{kind} {shown}")
    anchor, at = "middle", x
    if x - half < 0:
        anchor, at = "start", LEFT - 6
    elif x + half > WIDTH:
        anchor, at = "end", RIGHT + 6
    return (
        f'<text class="label" x="{at:.1f}" y="{y:g}" text-anchor="{anchor}">'
        f'<tspan class="kind">{kind}</tspan> {text(shown)}</text>'
    )
