"""Under a source's own conditions the card and a step's parts reach what was published."""

from __future__ import annotations

from typing import Any

from claims._kit import reproduces
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures import published, reproduced
from fixtures.faults.tracing import NoProfiler, PartsFiveTimes
from fixtures.needs import Need

CASES = reproduces.cases(published.values("parts"))

CLAIM = Claim(
    id="roofline/published-parts",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="beginning; prefill; why decode is slow"),
    figure=CASES[0].figure,
    rule=median_at_most,
    needs=frozenset({Need.MODEL}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="each value on its own device, model, number type and attention alone; "
        "the card's own rates with any model; a profiled step in a process of its own",
    ),
    timed=True,
    cases=CASES,
    controls=(
        *(
            Control(f"five times, {name}", PartsFiveTimes.__doc__, PartsFiveTimes, name)
            for name in published.controlled("parts")
        ),
        Control("no profiler", NoProfiler.__doc__, NoProfiler, "0.5B, tax of a profiled call"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far a stage, a rate or the tax is from the published value, by round."""
    value = case.params["value"]
    why_not = reproduced.lacking(engine, value)
    return reproduces.departures(value, why_not, lambda: reproduced.found(engine, value))


test_holds, test_control_is_caught = CLAIM.tests(measure)
