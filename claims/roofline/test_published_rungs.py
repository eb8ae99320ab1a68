"""Under a source's own conditions each rung of the ladder takes the time that was published."""

from __future__ import annotations

from typing import Any

from claims._kit import reproduces
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures import published, reproduced
from fixtures.faults.tracing import PartsFiveTimes
from fixtures.needs import Need

CASES = reproduces.cases(published.values("rungs"))

CLAIM = Claim(
    id="roofline/published-rungs",
    sentence=__doc__,
    source=Source(
        document="where-time-goes", where="why decode is slow; why not just optimise it"
    ),
    figure=CASES[0].figure,
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="each value on its own device, model, number type and attention alone; "
        "the eager rung is phases/published-step-times",
    ),
    timed=True,
    cases=CASES,
    controls=tuple(
        Control(f"five times, {name}", PartsFiveTimes.__doc__, PartsFiveTimes, name)
        for name in published.controlled("rungs")
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far a step of the rung is from the published value, by round."""
    value = case.params["value"]
    why_not = reproduced.lacking(engine, value)
    return reproduces.departures(value, why_not, lambda: reproduced.found(engine, value))


test_holds, test_control_is_caught = CLAIM.tests(measure)
