"""Replayed as a graph, the kernels of a step follow each other almost without gaps."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_at_most
from fixtures import sizes, tracing
from fixtures.faults.tracing import LaunchedTraced
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, 1,024 tokens of context, profiler trace"

CLAIM = Claim(
    id="roofline/graph-closes-the-gaps",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=0.5,
        unit="typical gap replayed / launched",
        claimed="24.9 us to 0.4 us (0.016); busy 19 % to 96 % of the step",
        setting=SETTING,
        why="no change is 1, and the source saw a sixtieth; half keeps in devices whose launches "
        "are faster and whose gaps were smaller to begin with",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, batch 1, weights up to 2 GB, static cache",
    ),
    timed=True,
    profiled=True,
    mechanism="A graph is handed over once, so no kernel waits for the host.",
    cases=(Case(name="all", params={"context": 1024}, rehearsal={"context": 16}),),
    controls=(Control("a replay that launches", LaunchedTraced.__doc__, LaunchedTraced),),
)


def measure(engine: Any, case: Case) -> Measured:
    """Typical gap of each replay's trace over that of a launched step's."""
    if why := sizes.too_large(engine):
        raise NotApplicable(why)
    seen = tracing.profiles(engine, context=case.params["context"])
    replay, launched = seen[getattr(engine, "replay", "graph")], seen["launched"]
    pairs = zip(replay.traces, launched.traces, strict=True)
    return Measured(
        samples=[a.typical_gap_us / b.typical_gap_us for a, b in pairs],
        notes={
            "replayed": replay.notes(),
            "launched": launched.notes(),
            **tracing.timeline(engine, seen),
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
