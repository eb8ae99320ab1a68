"""One judged release of the history benchmark, and what many of them come to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

RED, GREEN = "red", "green"
CONFIRMED, REFUTED = "CONFIRMED", "REFUTED"
NOT_APPLICABLE, INCONCLUSIVE, VOID = "NOT APPLICABLE", "INCONCLUSIVE", "VOID"
VERDICTS = (CONFIRMED, REFUTED, INCONCLUSIVE, NOT_APPLICABLE, VOID)

# What a verdict means for a release that has the defect, and for one that has it no more.
WANTED = {RED: REFUTED, GREEN: CONFIRMED}
WORDS = {
    (RED, REFUTED): "caught",
    (RED, CONFIRMED): "MISSED",
    (GREEN, CONFIRMED): "clean",
    (GREEN, REFUTED): "FALSE ALARM",
}
NOT_JUDGED = "NOT JUDGED"

EXIT_OK, EXIT_WRONG, EXIT_NOT_JUDGED = 0, 1, 20


@dataclass(frozen=True, kw_only=True)
class Result:
    """What the general checks said about one release.

    ``report``: the public report, as in the data file; ``expected``: "red" where the release has
    the defect, "green" where it is repaired; ``found``: the verdict, by the kit's names;
    ``property``: the one that broke, of a green release those that were tried; ``subject``: the
    model or schema; ``witness``: the smallest trial that breaks, with both values; ``note``: why
    nothing was judged, or what else a reader has to know.
    """

    report: str
    package: str
    release: str
    expected: str
    found: str
    property: str
    seconds: float
    witness: str = ""
    note: str = ""
    subject: str = ""

    def __post_init__(self) -> None:
        """Refuse what no reader could place; ValueError."""
        if self.expected not in WANTED or self.found not in VERDICTS:
            raise ValueError(f"no such result: expected {self.expected}, found {self.found}")

    @cached_property
    def wanted(self) -> str:
        """The verdict that this release deserves."""
        return WANTED[self.expected]

    @cached_property
    def as_wanted(self) -> bool:
        """Whether it got that verdict."""
        return self.found == self.wanted

    @cached_property
    def word(self) -> str:
        """caught, clean, MISSED, FALSE ALARM or NOT JUDGED."""
        return WORDS.get((self.expected, self.found), NOT_JUDGED)

    def to_json(self) -> str:
        """The result in one line."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result that ``to_json`` wrote; ValueError when the text is none."""
        try:
            values: dict[str, Any] = json.loads(text)
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"not a result of the history benchmark: {error}") from error


def exit_status(results: Iterable[Result]) -> int:
    """1 when one is missed or a false alarm, 20 when one (or all) was not judged, else 0."""
    words = [result.word for result in results]
    if any(word in ("MISSED", "FALSE ALARM") for word in words):
        return EXIT_WRONG
    return EXIT_NOT_JUDGED if NOT_JUDGED in words or not words else EXIT_OK


def summary(results: Sequence[Result]) -> str:
    """The answer in one line: how many defects were caught, how many repairs found clean."""
    parts = []
    for side, word in ((RED, "caught"), (GREEN, "clean")):
        here = [r for r in results if r.expected == side]
        good = sum(r.as_wanted for r in here)
        parts.append(f"{good} of {len(here)} {side} releases {word}")
    wrong = [w for w in ("MISSED", "FALSE ALARM", NOT_JUDGED) if any(r.word == w for r in results)]
    counts = [f"{sum(r.word == w for r in results)} {w}" for w in wrong]
    return ", ".join([*parts, *counts])
