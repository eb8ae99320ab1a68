"""One profiled call makes later launches in the same process slower."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures import phases, profiler_tax
from fixtures.faults.tracing import NoProfiler
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, in the process that was profiled"
SHAPE, ROUNDS = "qwen2.5-0.5b", 24

CLAIM = Claim(
    id="roofline/profiler-tax",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=1.05,
        unit="step after the profiler / before it",
        claimed="33.0 to 39.5 ms (1.20)",
        setting=SETTING,
        why="1 is no tax; a quarter of the published fifth is beyond what two timings of one "
        "process differ by",
    ),
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.CUDA}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="random weights of the 0.5B shape in a process of its own, whatever the target",
    ),
    timed=True,
    mechanism="The profiler's hooks stay in the driver's path of every launch.",
    cases=(Case(name="all", params={"shape": SHAPE}, rehearsal={"shape": "tiny"}),),
    controls=(Control("no profiler", NoProfiler.__doc__, NoProfiler),),
)


def measure(engine: Any, case: Case) -> Measured:
    """Each step after the profiled call, over the typical one before it."""
    found = profiler_tax.before_and_after(
        case.params["shape"],
        device=engine.device,
        rounds=ROUNDS,
        profiled=getattr(engine, "profiles", True),
    )
    typical = phases.middle(found["before"])
    return Measured(samples=[ms / typical for ms in found["after"]], notes={"ms": found})


test_holds, test_control_is_caught = CLAIM.tests(measure)
