"""What a measurement hands over, and how two arms are timed against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any


class NotApplicable(Exception):
    """Raised by a measure whose subject lacks something only seen while measuring."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A bound from physics beside the quantity that cannot beat it, both in ``unit``."""

    what: str
    measured: float
    floor: float
    unit: str
    why: str

    @classmethod
    def of_weights(cls, what: str, *, measured_ms: float, floor_ms: float) -> Floor:
        """The floor of a step that reads each weight once."""
        why = "weight bytes over the read bandwidth probed in this run"
        return cls(what=what, measured=measured_ms, floor=floor_ms, unit="ms", why=why)

    @property
    def beaten(self) -> bool:
        """True when the measurement is below what is possible, or is no number at all."""
        return not self.measured >= self.floor


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Everything a measure returns; it decides nothing.

    ``samples`` are what the rule judges. ``witness`` is the smallest input that shows the worst
    sample. ``x`` and ``points`` (series name -> value) feed the chart of a sweep. ``notes`` are
    shown as they are, escaped; one named ``chart`` asks for a drawing by its ``kind``, see
    docs/write-a-claim.md. ``disturbed`` says why the conditions were unfit.
    """

    samples: list[float]
    witness: str = ""
    x: float | None = None
    points: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    floors: list[Floor] = field(default_factory=list)
    disturbed: str = ""

    def row(self) -> dict[str, Any]:
        """The measurement as plain JSON values, without loss."""
        return asdict(self)

    def watched(self, objection: str, seen: dict[str, Any]) -> Measured:
        """The same with what a watch of the machine objects to, and with what it saw."""
        disturbed = self.disturbed or objection
        return replace(self, disturbed=disturbed, notes={**self.notes, **seen})

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Measured:
        """The measurement that ``row`` was made of; for judging a stored run again."""
        names = ("samples", "witness", "x", "points", "notes", "disturbed")
        return cls(floors=[Floor(**f) for f in row["floors"]], **{n: row[n] for n in names})


Arm = Callable[[], object]


def paired_seconds(
    first: Arm,
    second: Arm,
    *,
    rounds: int,
    clock: Callable[[], float],
    settle: Callable[[], None] = lambda: None,
    warm_up: int = 1,
) -> list[tuple[float, float]]:
    """Seconds of each arm per round, ``rounds`` pairs, after ``warm_up`` untimed rounds.

    The order flips each round so that drift hits both arms; ``settle`` waits for the device
    before each clock reading.
    """
    for _ in range(warm_up):
        first()
        second()
    pairs = []
    for round_number in range(rounds):
        took: dict[int, float] = {}
        for side in (0, 1) if round_number % 2 == 0 else (1, 0):
            took[side] = seconds_of(first if side == 0 else second, clock=clock, settle=settle)
        pairs.append((took[0], took[1]))
    return pairs


def seconds_of(
    arm: Arm, *, clock: Callable[[], float], settle: Callable[[], None] = lambda: None
) -> float:
    """Seconds one call of ``arm`` takes once the device has finished what it had before."""
    settle()
    start = clock()
    arm()
    settle()
    return clock() - start


def ratios(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """The second arm over the first (second / first), per round."""
    return [second / first for first, second in pairs]
