"""Places for short texts beside the points of a chart, such that none lies on anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

# Of the text's size, and generous: which font a reader's page has is not known.
_NARROW, _WIDE, _HEIGHT = 0.62, 1.05, 1.2
_POINT = 4.0
_DIRECTIONS = ((1, 0), (0, 1), (0, -1), (-1, 0), (1, -1), (-1, 1), (1, 1), (-1, -1))
_DISTANCES = (3.0, 9.0, 16.0)


@dataclass(frozen=True)
class Box:
    """A rectangle by its middle and half its size, in points."""

    x: float
    y: float
    half_width: float = 0.0
    half_height: float = 0.0

    def meets(self, other: Box) -> bool:
        """Whether the two overlap."""
        wide = self.half_width + other.half_width
        high = self.half_height + other.half_height
        return abs(self.x - other.x) < wide and abs(self.y - other.y) < high

    def away(self, other: Box) -> float:
        """How far the middle of ``other`` is from the nearest edge; 0 inside."""
        wide = abs(self.x - other.x) - self.half_width
        high = abs(self.y - other.y) - self.half_height
        return hypot(max(0.0, wide), max(0.0, high))

    def holds(self, other: Box) -> bool:
        """Whether ``other`` lies in this one."""
        wide = self.half_width - other.half_width
        high = self.half_height - other.half_height
        return abs(self.x - other.x) <= wide and abs(self.y - other.y) <= high


def width(label: str, size: float) -> float:
    """Points that ``label`` takes at most in letters of ``size`` points."""
    return size * sum(_NARROW if char.isascii() else _WIDE for char in label)


def placed(
    points: Sequence[tuple[float, float, str]],
    *,
    inside: Box,
    avoid: Sequence[Box] = (),
    size: float,
) -> list[Box | None]:
    """Where the text of each point (x, y, text) goes; None where there is no room for it.

    A text is nearer to its own point than to any other. ``avoid`` is what texts keep off as long
    as that leaves them a place at all.
    """
    marks = [Box(x, y, _POINT, _POINT) for x, y, _ in points]
    taken: list[Box] = []
    found: list[Box | None] = []
    for own, (x, y, label) in zip(marks, points, strict=True):
        box = Box(x, y, width(label, size) / 2, size * _HEIGHT / 2)
        places = [place for place in _around(box) if inside.holds(place)]
        free = [p for p in places if not any(p.meets(other) for other in (*marks, *taken))]
        told = [p for p in free if all(p.away(own) <= p.away(other) for other in marks)]
        clear = [p for p in told if not any(p.meets(other) for other in avoid)]
        best = next(iter(clear or told), None)
        found.append(best)
        taken += [best] if best else []
    return found


def _around(box: Box) -> list[Box]:
    """The places around a point where its text may stand, the best ones first."""
    out = []
    for distance in _DISTANCES:
        for right, up in _DIRECTIONS:
            x = box.x + right * (_POINT + distance + box.half_width)
            y = box.y + up * (_POINT + distance / 2 + box.half_height)
            out.append(Box(x, y, box.half_width, box.half_height))
    return out
