"""Ledgers by the thousand: checked as any other, kept as what a table of claims shows of them.

What is left out is what no cell of claim by run shows: notes, witnesses, the samples behind a
number that the verdict row has, and the numbers of planted faults. Equal parts of different
ledgers are one object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from reports import read, shapes
from reports.cases import Row
from reports.model import SUBJECT, RunView, view


class Shared:
    """Equal texts, lists and tables as one object each; nobody may change what it gave."""

    def __init__(self) -> None:
        """Nothing is shared yet."""
        self.seen: dict[Any, Any] = {}

    def __call__(self, value: Any) -> Any:
        """``value``, or the equal one that was seen before."""
        kind = type(value)
        if kind is str:
            return self.seen.setdefault(value, value)
        if kind is dict:
            inner: Any = {self(k): self(v) for k, v in value.items()}
            return self._one(dict, tuple(inner), tuple(inner.values()), inner)
        if kind is list:
            inner = [self(each) for each in value]
            return self._one(list, (), tuple(inner), inner)
        return value

    def _one(self, kind: type, names: tuple[str, ...], values: tuple[Any, ...], new: Any) -> Any:
        # Inner parts are shared already, so that the same part is the same object.
        marks = tuple(id(v) if type(v) in (dict, list) else (type(v), v) for v in values)
        return self.seen.setdefault((kind, names, marks), new)


def light(path: Path, shared: Shared) -> RunView:
    """The run of a ledger, for tables of claim by run. NotALedger as ``read.rows`` has it."""
    try:
        text = path.read_text(encoding="utf-8")
        lines = text[: text.rfind("\n") + 1].splitlines()
        rows = [json.loads(line) for line in _looked_at(lines)]
        fits = all(_checks()[row["kind"]](row) for row in rows)
        begins = bool(rows) and [row["kind"] for row in rows].index("header") == 0
        fits = fits and begins and [row["kind"] for row in rows].count("header") == 1
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        fits = False
    if not fits:
        rows = read.rows(path)  # says in one line what does not fit
    return view(_slim(row, shared) for row in _shown(rows))


def _looked_at(lines: list[str]) -> list[str]:
    """The lines less those of planted faults, in a run that came to its end.

    Every claim of such a run has its row, and no table shows more of a fault than that.
    """
    if not lines or '"kind": "footer"' not in lines[-1]:
        return lines
    return [line for line in lines if _SUBJECT in line or not _is_of_a_fault(line)]


# As a run writes it; a line that is written otherwise is looked at.
_SUBJECT = f'"role": "{SUBJECT}"'


def _is_of_a_fault(line: str) -> bool:
    return '"role": "' in line and ('"kind": "verdict"' in line or '"kind": "samples"' in line)


@cache
def _checks() -> dict[str, shapes.Check]:
    schema = json.loads(read.SCHEMA.read_text(encoding="utf-8"))
    return {
        branch["properties"]["kind"]["const"]: shapes.compiled(
            {**branch, "type": "object"}, schema["$defs"]
        )
        for branch in schema["oneOf"]
    }


def _shown(rows: Iterable[Row]) -> Iterable[Row]:
    """The rows less what no table shows."""
    rows = list(rows)
    whole = {row["claim"] for row in rows if row["kind"] == "claim"}
    for row in rows:
        # Without the claim's row, a verdict on a planted fault is all that tells of the claim.
        if row.get("role", SUBJECT) != SUBJECT and row["claim"] in whole:
            continue
        yield row


# What no table shows of a row, and what stands there instead.
_LEFT_OUT: dict[str, Row] = {
    "samples": {"witness": "", "points": {}, "notes": {}, "floors": []},
    "claim": {"controls": [], "mechanism": "", "repeat": "", "no_control_because": ""},
}


def _slim(row: Row, shared: Shared) -> Row:
    """A row with what tables show of it; rows differ, what stands in them is often the same."""
    kind = row["kind"]
    slim = {**row, **_LEFT_OUT.get(kind, {})}
    seen = _samples(slim.pop("samples")) if kind == "samples" else None
    slim = {name: shared(value) for name, value in slim.items()}
    return slim if seen is None else {**slim, "samples": seen}


def _samples(given: list[Any]) -> list[float]:
    """All samples of a share, which is told by them; else the ends of their span."""
    if all(sample in (0, 1) for sample in given):
        return [1.0 if sample else 0.0 for sample in given]
    finite = [sample for sample in map(float, given) if isfinite(sample)]
    return [min(finite), max(finite)] if finite else [float(sample) for sample in given]
