"""What differs between two runs: pure functions of their ledger rows.

Runs are told apart by what they judged, never by their order in time: the first is the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from reports.cases import AT_LEAST, AT_MOST, EXACTLY, KNOWN, Case, Row
from reports.model import UNFINISHED, ClaimView, RunView

# From best to worst, as a run's exit status has it: the first three leave it at 0.
RANK = ("CONFIRMED", "NOT APPLICABLE", KNOWN, "INCONCLUSIVE", UNFINISHED, "VOID", "REFUTED")

# What names a run rather than what it was made under.
_NAMES = ("kind", "schema", "run", "started", "command")


@dataclass(frozen=True, kw_only=True)
class Turned:
    """A claim that has another verdict; ``after`` is None where the later run lacks it."""

    before: ClaimView
    after: ClaimView | None

    @property
    def worse(self) -> bool:
        """True when the verdict is a worse one, or a confirmed claim is gone."""
        if self.after is None:
            return self.before.label == "CONFIRMED"
        return RANK.index(self.after.label) > RANK.index(self.before.label)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One case of a claim in both runs."""

    claim: str
    before: Case
    after: Case

    @property
    def moved(self) -> bool:
        """True when the two intervals share no value.

        Where a rule judges each sample, the interval is the span of the samples. An end that is
        unbounded overlaps with everything, and values in different units are not compared.
        """
        ends = (*self.before.bounds, *self.after.bounds)
        if None in (self.before.estimate, self.after.estimate) or not _comparable(self):
            return False
        low, high, later_low, later_high = ends
        beyond_above = high is not None and later_low is not None and later_low > high
        beyond_below = low is not None and later_high is not None and later_high < low
        return beyond_above or beyond_below

    @property
    def wrong_way(self) -> bool | None:
        """Whether the estimate moved towards or beyond its limit; None where no rule is named."""
        old, new, limit = self.before.estimate, self.after.estimate, self.after.limit
        rule = self.after.rule
        if old is None or new is None or rule not in AT_MOST | AT_LEAST | EXACTLY:
            return None
        if rule in EXACTLY:
            return abs(new - limit) > abs(old - limit)
        return new > old if rule in AT_MOST else new < old

    @property
    def judged_otherwise(self) -> bool:
        """True when the limit, its unit or its rule is another one."""
        old, new = self.before, self.after
        other_rule = bool(old.rule and new.rule) and old.rule != new.rule
        return other_rule or _limit(old) != _limit(new)


def _limit(case: Case) -> tuple[str, str]:
    # As a word, because a limit that is no number does not equal itself.
    return str(case.limit), str(case.figure["unit"])


def _comparable(pair: Pair) -> bool:
    ends = (*pair.before.bounds, *pair.after.bounds, pair.before.estimate, pair.after.estimate)
    same_unit = pair.before.figure["unit"] == pair.after.figure["unit"]
    return same_unit and all(isfinite(end) for end in ends if end is not None)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A later run against the baseline; every list is in the order of the claims' ids.

    ``worse`` holds the confirmed claims that are missing, ``removed`` the other missing ones.
    """

    worse: list[Turned]
    better: list[Turned]
    moved: list[Pair]
    judged_otherwise: list[Pair]
    added: list[ClaimView]
    removed: list[ClaimView]
    common: int

    def got_worse(self, *, strict: bool = False) -> bool:
        """True when a claim got worse; ``strict`` counts a value that moved the wrong way too."""
        return bool(self.worse) or (strict and any(pair.wrong_way for pair in self.moved))


def compare(before: RunView, after: RunView, *, common: bool = False) -> Comparison:
    """Everything that differs; ``common`` leaves out claims that only one of the runs holds."""
    old, new = ({c.id: c for c in run.claims} for run in (before, after))
    both = sorted(old.keys() & new.keys())
    gone = [] if common else [old[c] for c in sorted(old.keys() - new.keys())]
    added = [] if common else [new[c] for c in sorted(new.keys() - old.keys())]
    turned = [Turned(before=old[c], after=new[c]) for c in both if old[c].label != new[c].label]
    missing = [Turned(before=c, after=None) for c in gone]
    pairs = [pair for c in both for pair in _pairs(old[c], new[c])]
    return Comparison(
        worse=[t for t in turned if t.worse] + [t for t in missing if t.worse],
        better=[t for t in turned if not t.worse],
        moved=[p for p in pairs if p.moved],
        judged_otherwise=[p for p in pairs if p.judged_otherwise],
        added=added,
        removed=[t.before for t in missing if not t.worse],
        common=len(both),
    )


def _pairs(old: ClaimView, new: ClaimView) -> Iterator[Pair]:
    later = {case.name: case for case in new.cases}
    for case in old.cases:
        if case.name in later:
            yield Pair(claim=old.id, before=case, after=later[case.name])


Field = tuple[str, list[str]]


def conditions(runs: Sequence[RunView]) -> tuple[list[Field], list[Field]]:
    """Fields of the headers with their value in each run: those that differ, those that do not."""
    flat = [dict(_flat(_header(run.header))) for run in runs]
    names = sorted({name for each in flat for name in each})
    fields = [(name, [each.get(name, "") for each in flat]) for name in names]
    differ = [field for field in fields if len(set(field[1])) > 1]
    return differ, [field for field in fields if len(set(field[1])) == 1]


def _header(header: Row) -> Row:
    return {name: value for name, value in header.items() if name not in _NAMES}


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key in value:
            yield from _flat(value[key], f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for number, each in enumerate(value, start=1):
            yield from _flat(each, f"{name} {number}")
    else:
        yield name, str(value)
