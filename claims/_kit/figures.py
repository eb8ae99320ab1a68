"""A figure: what was published, what is required here, and why exactly that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published number beside the limit that judges the measured one.

    ``claimed`` is the source's wording of its number (with unit) and ``setting`` the conditions
    it was taken under; ``limit`` is in ``unit``; ``why`` lets a reader derive the limit again.
    """

    limit: float
    unit: str
    why: str
    claimed: str
    setting: str = "the source names no machine"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a claim was published: the document's short name, title, and the place in it."""

    document: str
    where: str
    setting: str = ""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Where a claim is meant to hold; outside it the verdict is NOT APPLICABLE.

    ``lanes`` are the pytest markers under which the claim reports; ``judged_on`` the device types
    on which it is judged.
    """

    lanes: frozenset[str] = frozenset({"cpu", "gpu"})
    judged_on: frozenset[str] = frozenset({"cpu", "cuda"})
    says: str = "any device, batch 1"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One parametrization of a claim: a readable name and what ``measure`` needs to know.

    ``rule`` and ``figure`` replace the claim's own where the case promises something else (an arm
    that is claimed to fail, a device with its own limit). ``rehearsal`` holds the params that are
    smaller in a rehearsal, where the code is tried and nothing is judged.
    """

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    figure: Figure | None = None
    rule: str | None = None
    judged_on: frozenset[str] | None = None
    marks: tuple[Any, ...] = ()
    rehearsal: dict[str, Any] = field(default_factory=dict)

    def rehearsed(self) -> Case:
        """The same case at the size of a rehearsal."""
        return replace(self, params={**self.params, **self.rehearsal})
