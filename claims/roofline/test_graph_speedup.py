"""A small model's decode step runs far faster replayed as a CUDA graph than launched anew."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Floor, Measured, NotApplicable
from claims._kit.rules import every_sample_at_most, median_at_least
from fixtures import graphs, phases
from fixtures.faults.graphs import GraphThatLaunches as Launches
from fixtures.faults.graphs import GraphWithStaleInputs as Stale
from fixtures.floors import weights_floor_ms
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, 1,024 tokens of context, static cache"
SMALL_BYTES = 2 * 10**9
EQUAL = Figure(
    limit=1.0,
    unit="times what rounding explains",
    claimed="same kernels, same arithmetic",
    setting=SETTING,
    why="fresh tokens through both arms, beside the null arm's spread of this run",
)

CLAIM = Claim(
    id="roofline/graph-speedup",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=1.5,
        unit="launched / replayed time of a step",
        claimed="39.0 to 13.1 ms (2.98x); 1.5B: 37.6 to 21.3 ms (1.77x)",
        setting=SETTING,
        why="other published cases of this replay run from 0.8x to 4.3x; half of the source's "
        "gain of 2x over no gain would be 2, and 1.5 keeps a device with faster launches in",
    ),
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(judged_on=frozenset({"cuda"}), says="CUDA, batch 1, weights up to 2 GB"),
    timed=True,
    mechanism="Small kernels end before the host has launched the next; a graph launches once.",
    cases=(
        Case(name="speed-up"),
        Case(name="logits", rule=every_sample_at_most.__name__, figure=EQUAL),
    ),
    controls=(
        Control("graph that launches", Launches.__doc__, Launches),
        Control("graph with stale inputs", Stale.__doc__, Stale, "logits"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Launched over replayed time per round; or how far the two arms' logits lie apart."""
    if engine.weight_bytes() > SMALL_BYTES:
        raise NotApplicable(f"the weights hold more than {SMALL_BYTES} bytes: out of scope")
    kind = getattr(engine, "replayed", "graph")
    if case.name == "logits":
        return Measured(samples=[graphs.pair(engine, kind, rounds=0).excess])
    pair = graphs.pair(engine, kind)
    replayed_ms = [1e3 * s for s in pair.replayed_s]
    middle_ms, floor_ms = phases.middle(replayed_ms), weights_floor_ms(engine)
    floor = Floor.of_weights("one replayed step", measured_ms=middle_ms, floor_ms=floor_ms)
    return Measured(
        samples=[a / b for a, b in zip(pair.launched_s, pair.replayed_s, strict=True)],
        notes={
            "launched_ms": [1e3 * s for s in pair.launched_s],
            "replayed_ms": replayed_ms,
            "logits apart": f"{pair.excess:.3g} times what rounding explains",
        },
        floors=[floor],
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
