"""No decode step is shorter than reading its weights takes at this device's bandwidth."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures.faults.counting import SlowClock
from fixtures.floors import steps_beside_probe
from fixtures.needs import Need

SETTING = (
    "T4, 274 GB/s measured: Qwen2.5-0.5B (0.92 GiB) and 1.5B (2.9 GiB); "
    "A100, 1,555 GB/s: Qwen3-8B (15.3 GiB)"
)

CLAIM = Claim(
    id="roofline/weights-floor",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="opening; model weights", setting=SETTING),
    figure=Figure(
        limit=1,
        unit="floor / step",
        claimed="3.7 ms (270 tokens a second), 11.4 ms, about 10 ms",
        setting=SETTING,
        why="weights that are not in a cache come from memory, no faster than the best read of a "
        "large buffer in the same run; a step that fills the floor exactly has ratio 1",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1, dense models; a model that fits a processor's cache has no floor"),
    mechanism="A step multiplies one row with every weight, so each is read and none reused.",
    timed=True,
    controls=(
        Control(
            name="slow clock",
            sentence="The clock of a step advances a microsecond each second.",
            plant=SlowClock,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """The floor over the time of each step: the share of the bound that the step reached."""
    run = steps_beside_probe(engine)
    fastest_ms = 1e3 * min(run.step_s)
    return Measured(
        samples=[run.floor_s / seconds for seconds in run.step_s],
        witness=f"fastest step {fastest_ms:.4g} ms, floor {1e3 * run.floor_s:.4g} ms",
        notes={
            "step_ms": [1e3 * seconds for seconds in run.step_s],
            "bytes of weights a step reads": run.step_bytes,
            "bandwidth, GB/s": run.bytes_per_s / 1e9,
            "tokens/s at the floor": 1 / run.floor_s,
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
