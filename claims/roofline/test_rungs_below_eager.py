"""A replayed, a compiled and an engine's step are each faster than the eager one."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Floor, Measured, NotApplicable
from claims._kit.rules import median_at_least
from fixtures import phases, rungs
from fixtures.faults.tracing import RungsSwapped
from fixtures.floors import weights_floor_ms
from fixtures.needs import Need

SETTING = "Tesla T4, batch 1, 1,024 tokens of context, Qwen2.5-0.5B and 1.5B at 16 bits"
CLAIMED = {
    "graph": "33.2 to 12.3 ms (0.5B), 37.6 to 21.3 ms (1.5B)",
    "compiled": "33.2 to 13.1 ms (0.5B), 37.6 to 19.1 ms (1.5B); about 30 s of start-up",
    "vLLM": "33.2 to 6.1 ms (0.5B), 37.6 to 16.6 ms (1.5B); floors 3.7 and 11.4 ms",
}
WHY = "the order alone: above 1 the rung is the faster one; how much it gains is the machine's"


def case(kind: str) -> Case:
    """One rung beside eager."""
    figure = Figure(
        limit=1, unit="eager / this rung", claimed=CLAIMED[kind], setting=SETTING, why=WHY
    )
    small = {"context": 16}
    return Case(name=kind, params={"context": 1024}, figure=figure, rehearsal=small)


CLAIM = Claim(
    id="roofline/rungs-below-eager",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why not just optimise it", setting=SETTING),
    figure=case("graph").figure,
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, batch 1; eager grows its cache, the others have a fixed one",
    ),
    timed=True,
    mechanism="A graph removes launches, a compiler fuses as well, an engine has kernels of its "
    "own; the bytes of the weights stay.",
    cases=tuple(case(kind) for kind in CLAIMED),
    controls=(
        Control("swapped, graph", RungsSwapped.__doc__, RungsSwapped, "graph"),
        Control("swapped, compiled", RungsSwapped.__doc__, RungsSwapped, "compiled"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Eager over the rung's step, one ratio per round, in flipping order."""
    if case.name == "vLLM" and (why := rungs.why_no_vllm()):
        raise NotApplicable(why)
    found = rungs.beside_eager(engine, case.name, context=case.params["context"])
    step_ms, floor_ms = phases.middle(found.rung_ms), weights_floor_ms(engine)
    return Measured(
        samples=found.ratios,
        points={
            "eager, ms": phases.middle(found.eager_ms),
            "rung, ms": step_ms,
            "floor": floor_ms,
        },
        notes={"ms": [found.eager_ms, found.rung_ms], "start-up, s": found.start_up_s},
        floors=[Floor.of_weights("one step", measured_ms=step_ms, floor_ms=floor_ms)],
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
