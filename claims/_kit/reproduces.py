"""The form of a claim that a published value comes out here, where its setting is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from claims._kit.figures import Case, Figure
from claims._kit.measure import Measured, NotApplicable


class Published(Protocol):
    """A published value: how far from it is near enough, and why."""

    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def printed(self) -> str: ...
    @property
    def setting(self) -> Any: ...
    @property
    def band(self) -> float: ...
    @property
    def why(self) -> str: ...

    def departures(self, found: list[float]) -> list[float]:
        """How far each value in ``unit`` lies from the published one, as a share of that."""

    def small(self) -> Any:
        """The same at the sizes of a rehearsal."""


def case(value: Published) -> Case:
    """One published value, judged where its setting is met."""
    figure = Figure(
        limit=value.band,
        unit="departure from it",
        claimed=value.printed,
        setting=str(value.setting),
        why=value.why,
    )
    small = {"value": value.small()}
    return Case(name=value.name, params={"value": value}, figure=figure, rehearsal=small)


def cases(values: Sequence[Published]) -> tuple[Case, ...]:
    """A case for each value, in their order."""
    return tuple(map(case, values))


def departures(value: Published, why_not: str, found: Callable[[], list[float]]) -> Measured:
    """How far what is ``found`` lies from ``value``; NotApplicable where ``why_not`` says so."""
    if why_not:
        raise NotApplicable(why_not)
    measured = found()
    return Measured(samples=value.departures(measured), notes={value.unit: measured})
