"""Five verdicts, how they merge, and what a run's exit status says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What a measurement says about a claim."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT APPLICABLE"
    VOID = "VOID"


# Later in the list wins when cases of one claim are merged: one refuted case refutes the claim,
# and a case without evidence keeps the others from confirming it.
_ORDER = (
    Verdict.NOT_APPLICABLE,
    Verdict.CONFIRMED,
    Verdict.INCONCLUSIVE,
    Verdict.VOID,
    Verdict.REFUTED,
)

EXIT_OK = 0
EXIT_REFUTED = 1
EXIT_VOID = 20
EXIT_INCONCLUSIVE = 21


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict that wins when several are merged; of nothing at all it is VOID."""
    return max(verdicts, default=Verdict.VOID, key=_ORDER.index)


def merge(cases: Iterable[Verdict], *, controls_caught: Iterable[bool]) -> Verdict:
    """The verdict of one claim from its cases and its controls.

    A control that was not caught voids the claim whatever the cases say: a measure that cannot
    see a planted fault has no authority in either direction. A claim that was judged without a
    single control is void for the same reason; one that applies nowhere needs none.
    """
    outcome = worst(cases)
    if outcome in (Verdict.NOT_APPLICABLE, Verdict.VOID):
        return outcome
    caught = list(controls_caught)
    return outcome if caught and all(caught) else Verdict.VOID


def exit_status(verdicts: Iterable[tuple[Verdict, bool]]) -> int:
    """Exit status of a run from (verdict, known deviation) of every claim.

    A run that judged nothing is VOID, not a success.
    """
    told = list(verdicts)
    seen = [verdict for verdict, known in told if not (known and verdict is Verdict.REFUTED)]
    excused = len(seen) < len(told)
    if Verdict.REFUTED in seen:
        return EXIT_REFUTED
    if Verdict.VOID in seen:
        return EXIT_VOID
    if Verdict.INCONCLUSIVE in seen:
        return EXIT_INCONCLUSIVE
    return EXIT_OK if excused or Verdict.CONFIRMED in seen else EXIT_VOID


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict with what it rests on.

    ``estimate``, ``low`` and ``high`` are in the unit of the figure; ``more`` is the number of
    further samples that would settle an INCONCLUSIVE one, where it can be told.
    """

    verdict: Verdict
    reason: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    more: int | None = None

    def row(self) -> dict[str, Any]:
        """The judgement as plain JSON values."""
        return {**asdict(self), "verdict": str(self.verdict)}
