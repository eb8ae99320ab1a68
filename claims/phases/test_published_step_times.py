"""Under a source's own conditions a pass takes the time that was published."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import median_at_most
from fixtures import published, reproduced, settings
from fixtures.faults.tracing import StepsFiveTimes
from fixtures.needs import Need


def case(value: published.Value) -> Case:
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


CASES = tuple(map(case, published.values("passes")))

CLAIM = Claim(
    id="phases/published-step-times",
    sentence=__doc__,
    source=Source(
        document="one-call, where-time-goes",
        where="one-call, section 3; where-time-goes, throughout",
    ),
    figure=CASES[0].figure,
    rule=median_at_most,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="each value on its own device, model, number type and attention alone",
    ),
    timed=True,
    cases=CASES,
    controls=tuple(
        Control(f"five times, {name}", StepsFiveTimes.__doc__, StepsFiveTimes, name)
        for name in published.controlled("passes")
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far a pass is from the published value, by round."""
    value = case.params["value"]
    if why := settings.unmatched(engine, value.setting) or reproduced.lacking(value):
        raise NotApplicable(why)
    found = reproduced.found(engine, value)
    return Measured(samples=value.departures(found), notes={value.unit: found})


test_holds, test_control_is_caught = CLAIM.tests(measure)
