"""Under a source's own conditions a trace shows the counts and times that were published."""

from __future__ import annotations

from typing import Any

from claims._kit import reproduces
from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import published, reproduced
from fixtures.faults.batching import WeightsForEachRow
from fixtures.faults.tracing import GraphTraced
from fixtures.needs import Need

CASES = reproduces.cases(published.values("traces"))

CLAIM = Claim(
    id="roofline/published-traces",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow; latency and throughput"),
    figure=CASES[0].figure,
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="each value on its own device, model, number type and attention alone; "
        "a step over a fixed cache",
    ),
    timed=True,
    profiled=True,
    cases=CASES,
    controls=(
        Control("a graph's replay", GraphTraced.__doc__, GraphTraced, "0.5B, launches"),
        Control(
            "weights for each row",
            WeightsForEachRow.__doc__,
            WeightsForEachRow,
            "0.5B, weights with 64 sequences",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far a trace is from the published value, by round."""
    value = case.params["value"]
    why_not = reproduced.lacking(engine, value)
    return reproduces.departures(value, why_not, lambda: reproduced.found(engine, value))


test_holds, test_control_is_caught = CLAIM.tests(measure)
