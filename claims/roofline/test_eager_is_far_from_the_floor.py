"""Eager decode of a single sequence uses a small part of the memory's bandwidth."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Floor, Measured
from claims._kit.rules import median_at_most
from fixtures.faults.tracing import ReadsWeightsInOneGo
from fixtures.floors import steps_beside_probe
from fixtures.needs import Need

SETTING = "A100, Qwen3-8B: 64 ms, 16 % of 1,555 GB/s; T4, Qwen2.5-0.5B: 33 ms, a ninth of 274"

CLAIM = Claim(
    id="roofline/eager-is-far-from-the-floor",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3, two phases", setting=SETTING),
    figure=Figure(
        limit=1 / 3,
        unit="bytes of the weights a step / bandwidth x time",
        claimed="237-242 GiB/s, roughly 16 %; 31 of 274 GB/s, a ninth",
        setting=SETTING,
        why="the larger of the two published shares is 0.16; twice that, rounded up, is still a "
        "small part, where a step bound by its bytes would be near 1",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, batch 1, eager, dynamic cache, dense models",
    ),
    timed=True,
    mechanism="The device waits for launches; the larger the weights, the less this hides them.",
    controls=(
        Control("one read of all weights", ReadsWeightsInOneGo.__doc__, ReadsWeightsInOneGo),
    ),
)


def measure(engine: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """The floor over the time of each step: the share of the bandwidth that the step used."""
    run = steps_beside_probe(engine)
    fastest_ms = 1e3 * min(run.step_s)
    floor = Floor.of_weights(
        "the fastest step", measured_ms=fastest_ms, floor_ms=1e3 * run.floor_s
    )
    return Measured(
        samples=[run.floor_s / seconds for seconds in run.step_s],
        notes={
            "step_ms": [1e3 * seconds for seconds in run.step_s],
            "GB/s of weights": [run.step_bytes / s / 1e9 for s in run.step_s],
            "bandwidth, GB/s": run.bytes_per_s / 1e9,
        },
        floors=[floor],
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
