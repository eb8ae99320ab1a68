"""Half the bits per weight speed up a replayed step more than a launched one."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures import sizes
from fixtures.faults.tracing import LaunchedTwice
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5 at 16 bits; the source measures no other width"

CLAIM = Claim(
    id="roofline/fewer-bytes-pay-when-bytes-bind",
    sentence=__doc__,
    source=Source(
        document="where-time-goes", where="what a production engine changes", setting=SETTING
    ),
    figure=Figure(
        limit=1.1,
        unit="gain of a replayed step / gain of a launched one",
        claimed="fewer bytes pay in proportion only once the step is limited by those bytes",
        setting=SETTING,
        why="1 is no difference between the arms; a launched step gains nothing, a step of bytes "
        "alone gains 2, and a tenth of that is more than two timings differ by",
    ),
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.CUDA}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="random weights of the 1.5B shape at 32 and 16 bits, plain number types, batch 1",
    ),
    timed=True,
    mechanism="Bytes bind only where launches do not.",
    cases=(Case(name="32 to 16 bits", params={"context": 64}, rehearsal={"context": 16}),),
    controls=(Control("launched twice", LaunchedTwice.__doc__, LaunchedTwice),),
)


def measure(engine: Any, case: Case) -> Measured:
    """The gain of half the bits as a graph over that without one, by round."""
    found, seconds = sizes.gains_of_fewer_bits(engine, context=case.params["context"], rounds=12)
    return Measured(samples=found, notes={"seconds a step": seconds})


test_holds, test_control_is_caught = CLAIM.tests(measure)
