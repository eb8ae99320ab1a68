"""The step of a larger model ends nearer its floor than that of a smaller one."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures import sizes
from fixtures.faults.tracing import SizesSwapped
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B and 1.5B at 16 bits, 1,024 tokens of context"

CLAIM = Claim(
    id="roofline/larger-is-closer",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why not just optimise it", setting=SETTING),
    figure=Figure(
        limit=1,
        unit="small step in its floors / large step in its floors",
        claimed="in an engine 1.7 and 1.5 times the floor (1.13); as graphs 12.3 of 3.7 ms and "
        "21.3 of 11.4 ms (1.78)",
        setting=SETTING,
        why="the order alone: above 1 the larger one is the nearer to its floor; how much nearer "
        "is the machine's",
    ),
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.CUDA}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="random weights of both shapes, replayed as graphs, whatever the run's target",
    ),
    timed=True,
    mechanism="What a step costs beside its bytes is nearly the same for both.",
    cases=(Case(name="all", params={"context": 1024}, rehearsal={"context": 16}),),
    controls=(Control("sizes swapped", SizesSwapped.__doc__, SizesSwapped),),
)


def measure(engine: Any, case: Case) -> Measured:
    """Seconds over bytes of the small model's step, in units of the large one's, by round."""
    found, notes = sizes.over_their_floors(engine, context=case.params["context"], rounds=12)
    return Measured(samples=found, notes=notes)


test_holds, test_control_is_caught = CLAIM.tests(measure)
