"""During an eager decode step of a small model the device mostly waits for the next launch."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_at_least
from fixtures import sizes, tracing
from fixtures.equivalence import layers_of
from fixtures.faults.tracing import GraphTraced, OneReadTraced
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, 1,024 tokens of context, profiler trace"


def case(name: str, limit: float, unit: str, claimed: str, why: str) -> Case:
    """One thing the trace shows."""
    figure = Figure(limit=limit, unit=unit, claimed=claimed, setting=SETTING, why=why)
    return Case(name=name, params={"context": 1024}, figure=figure, rehearsal={"context": 16})


CASES = (
    case("launches", 18, "launches a layer", "1,414 in 24 layers (59)",
         "were each a single kernel, a layer would need 18: 7 products, 2 norms, 2 rotations, 2 "
         "writes to the cache, attention, activation, gating, 2 sums"),
    case("idle", 0.5, "share of the step", "busy about 10 of 33 ms (0.70 idle)",
         "mostly is more than half; kernel time from the trace over a step timed before it"),
    case("gaps", 1, "typical gap / typical kernel", "24.9 us gap, 3.4 us kernel (7.3)",
         "above 1 it waits longer than it works; the profiler widens gaps, so no more is asked"),
)  # fmt: skip

CLAIM = Claim(
    id="roofline/device-waits-for-launches",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=CASES[0].figure,
    rule=every_sample_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, batch 1, weights up to 2 GB, static cache",
    ),
    timed=True,
    profiled=True,
    mechanism="The host hands kernels over one by one, each slower than the kernel runs.",
    cases=CASES,
    controls=(
        Control("a graph's replay", GraphTraced.__doc__, GraphTraced, "launches"),
        Control("one long read", OneReadTraced.__doc__, OneReadTraced, "idle"),
        Control("one long read, gaps", OneReadTraced.__doc__, OneReadTraced, "gaps"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """What the trace of each of three steps shows, beside a step timed before any trace."""
    if why := sizes.too_large(engine):
        raise NotApplicable(why)
    layers = len(layers_of(engine.model))
    kind = getattr(engine, "traced", "launched")
    seen = tracing.profiles(engine, context=case.params["context"])[kind]
    found = {
        "launches": [trace.launches / layers for trace in seen.traces],
        "idle": [1 - trace.busy_us / 1e3 / seen.step_ms for trace in seen.traces],
        "gaps": [trace.typical_gap_us / trace.typical_kernel_us for trace in seen.traces],
    }
    return Measured(samples=found[case.name], notes=seen.notes())


test_holds, test_control_is_caught = CLAIM.tests(measure)
