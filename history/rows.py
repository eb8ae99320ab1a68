"""The rows of transformers.toml, and what is to be judged on account of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from history.result import GREEN, RED

DATA = Path(__file__).with_name("transformers.toml")


@dataclass(frozen=True)
class Try:
    """Properties of one model type, or of one chat template, on the releases of a row."""

    holds: list[str]
    type: str = ""
    template: str = ""
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What is tried, for a reader."""
        about = ", ".join(f"{name}={value}" for name, value in self.changes.items())
        return (self.type or f"template {self.template}") + (f" ({about})" if about else "")


@dataclass(frozen=True)
class Row:
    """One public report: the release that has the defect, and the one that has it no more."""

    report: str
    red: str
    green: str
    says: str
    tries: tuple[Try, ...]
    quick: bool = False


@dataclass(frozen=True)
class Task:
    """One release of a row to judge on one subject."""

    row: Row
    side: str
    tried: Try

    @property
    def release(self) -> str:
        """The release that is installed for it."""
        return self.row.red if self.side == RED else self.row.green

    def __str__(self) -> str:
        """What --only looks for."""
        tried = f"{self.tried.subject} {' '.join(self.tried.holds)}"
        return f"transformers {self.release} {self.side} {self.row.report} {tried}"


@cache
def rows() -> tuple[Row, ...]:
    """Every row of the data file; ValueError where one is malformed."""
    found = []
    for entry in tomllib.loads(DATA.read_text(encoding="utf-8"))["row"]:
        try:
            tries = tuple(Try(**one) for one in entry.pop("try"))
            found.append(Row(**entry, tries=tries))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{DATA.name}: {entry.get('report', entry)}: {error}") from error
    return tuple(found)


def tasks(*, quick: bool = False, only: str = "") -> Iterator[Task]:
    """Red beside green of every row; quick ones try one subject a detector."""
    seen: set[tuple[str, ...]] = set()
    for row in rows():
        for tried in row.tries:
            if quick and (not row.quick or tuple(tried.holds) in seen):
                continue
            seen.add(tuple(tried.holds))
            both = [Task(row, side, tried) for side in (RED, GREEN)]
            yield from (task for task in both if only in str(task))
