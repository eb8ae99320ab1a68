"""One case of a claim as a reader sees it, and the controls beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

Row = dict[str, Any]

KNOWN = "REFUTED (known)"

# The kit's rules by what they ask of a value; a name that is not here is shown without a word.
AT_MOST = frozenset({"every_sample_at_most", "share_at_most", "median_at_most"})
AT_LEAST = frozenset({"every_sample_at_least", "share_at_least", "median_at_least"})
EXACTLY = frozenset({"every_sample_equals", "every_one_of"})
SHARES = frozenset({"every_one_of", "share_at_least", "share_at_most"})


def real(value: Any) -> float | None:
    """``value`` as a float; a ledger writes NaN and infinity as words. None stays None."""
    return None if value is None else float(value)


def label(verdict: str, known: str) -> str:
    """The verdict as it is shown: a refutation that is listed as known says so."""
    return KNOWN if verdict == "REFUTED" and known else verdict


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case of a claim, on the honest subject or with a control's fault planted."""

    name: str
    verdict: Row
    samples_row: Row | None

    @property
    def label(self) -> str:
        """The verdict of this case as it is shown."""
        return label(self.verdict["verdict"], self.verdict["known"])

    @property
    def figure(self) -> Row:
        """Limit, unit, why, claimed, setting."""
        return dict(self.verdict["figure"])

    @property
    def limit(self) -> float:
        """The limit, in the figure's unit."""
        return float(self.figure["limit"])

    @property
    def rule(self) -> str:
        """The name of the rule that judged; empty in ledgers that do not name it."""
        return str(self.verdict.get("rule", ""))

    @property
    def estimate(self) -> float | None:
        """What the rule took as measured, or None when it took nothing."""
        return real(self.verdict["estimate"])

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Lower and upper end of what stands around the estimate; None where unbounded."""
        return real(self.verdict["low"]), real(self.verdict["high"])

    @cached_property
    def samples(self) -> list[float]:
        """Every sample, NaN and infinity included."""
        return [float(s) for s in self._of_samples("samples", [])]

    @property
    def floors(self) -> list[Row]:
        """Bounds from physics beside what they bound."""
        return list(self._of_samples("floors", []))

    @property
    def notes(self) -> Row:
        """Whatever the measure wanted shown."""
        return dict(self._of_samples("notes", {}))

    @property
    def chart(self) -> Row:
        """What the measure asks to be drawn of this case, by its ``kind``; empty for nothing."""
        told = self.notes.get("chart")
        return told if isinstance(told, dict) else {}

    @property
    def witness(self) -> str:
        """The smallest input that shows the worst sample."""
        return str(self._of_samples("witness", ""))

    @property
    def seconds(self) -> float | None:
        """How long the measurement took."""
        return real(self._of_samples("seconds", None))

    @property
    def x(self) -> float | None:
        """Where this case lies on the axis of a sweep."""
        return real(self._of_samples("x", None))

    @property
    def points(self) -> dict[str, float]:
        """Values of a sweep by series name."""
        return {name: float(v) for name, v in sorted(self._of_samples("points", {}).items())}

    def _of_samples(self, name: str, otherwise: Any) -> Any:
        return otherwise if self.samples_row is None else self.samples_row[name]

    @property
    def share(self) -> tuple[int, int] | None:
        """(hits, trials) when the rule judged a share of 0/1 samples, else None.

        Where a ledger does not name its rule, a share is told by its estimate and by bounds that
        are not merely the smallest and the largest sample.
        """
        seen, n = self.samples, len(self.samples)
        if not seen or self.estimate is None or any(s not in (0, 1) for s in seen):
            return None
        hits = int(sum(seen))
        if self.rule:
            return (hits, n) if self.rule in SHARES else None
        told = abs(self.estimate - hits / n) < 1e-12 and self.bounds != (min(seen), max(seen))
        return (hits, n) if told and None not in self.bounds else None

    @property
    def bounds_are_extremes(self) -> bool:
        """True when the bounds are just the smallest and the largest sample."""
        finite = [s for s in self.samples if isfinite(s)]
        return bool(finite) and self.bounds == (min(finite), max(finite))

    @property
    def distance(self) -> float:
        """How far the estimate is from the limit, 0 (on it) to 1 or more, relative to both."""
        if self.estimate is None or not (isfinite(self.estimate) and isfinite(self.limit)):
            return float("inf")
        size = max(abs(self.estimate), abs(self.limit))
        return abs(self.estimate - self.limit) / size if size else 0.0


@dataclass(frozen=True, kw_only=True)
class Control:
    """A planted fault: whether the claim's measure saw it, and what the rule said."""

    name: str
    sentence: str
    caught: bool | None
    reason: str
    case: Case | None

    @property
    def missed(self) -> bool:
        """True when it ran and the rule did not refute it; one that never ran is not caught."""
        return self.caught is False and self.case is not None
