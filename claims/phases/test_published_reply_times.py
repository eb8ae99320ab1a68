"""Under a source's own conditions a reply takes the time that was published."""

from __future__ import annotations

from typing import Any

from claims._kit import reproduces
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures import published, reproduced
from fixtures.faults.tracing import StepsFiveTimes
from fixtures.needs import Need

CASES = reproduces.cases(published.values("replies"))

CLAIM = Claim(
    id="phases/published-reply-times",
    sentence=__doc__,
    source=Source(
        document="one-call, where-time-goes",
        where="one-call, section 3; where-time-goes, the generation loop and the two waits",
    ),
    figure=CASES[0].figure,
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="each value on its own device, model, number type and attention alone; of 500 tokens "
        "61 are written, and the rest taken to be alike",
    ),
    timed=True,
    cases=CASES,
    controls=tuple(
        Control(f"five times, {name}", StepsFiveTimes.__doc__, StepsFiveTimes, name)
        for name in published.controlled("replies")
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far a wait is from the published value, by round."""
    value = case.params["value"]
    why_not = reproduced.lacking(engine, value)
    return reproduces.departures(value, why_not, lambda: reproduced.found(engine, value))


test_holds, test_control_is_caught = CLAIM.tests(measure)
