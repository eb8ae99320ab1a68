"""Half the bits per weight speed up a replayed step more than a launched one."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Floor, Measured
from claims._kit.rules import median_at_least
from fixtures import sizes
from fixtures.faults.tracing import LaunchedTwice, SameWidthTwice
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5 at 16 bits; the source measures no other width"
WHY = (
    "1 is no difference between the arms; a launched step gains nothing (one that gets slower "
    "counts as that), a step of bytes alone gains {most}, and a tenth is more than two timings "
    "differ by"
)
TO_16 = "2"
TO_8 = "3.09 / 1.78 GB = 1.74, since the table of embeddings, also the output, stays at 16 bits"


def case(wide: int, narrow: int, kind: str, most: str) -> Case:
    """Two widths, and how the step is replayed."""
    figure = Figure(
        limit=1.1,
        unit="gain of a replayed step / gain of a launched one",
        claimed="fewer bytes pay in proportion only once the step is limited by those bytes",
        setting=SETTING,
        why=WHY.format(most=most),
    )
    params = {"bits": (wide, narrow), "kind": kind, "context": 64}
    name, small = f"{wide} to {narrow} bits", {"context": 16}
    return Case(name=name, params=params, figure=figure, rehearsal=small)


CASES = (case(32, 16, "graph", TO_16), case(16, 8, "compiled, tuned", TO_8))

CLAIM = Claim(
    id="roofline/fewer-bytes-pay-when-bytes-bind",
    sentence=__doc__,
    source=Source(
        document="where-time-goes", where="what a production engine changes", setting=SETTING
    ),
    figure=CASES[0].figure,
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.CUDA}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="random weights of the 1.5B shape, batch 1; 8 bits are int8 in each linear layer but "
        "the tied output, a scale a row, replayed by torch.compile",
    ),
    timed=True,
    mechanism="Bytes bind only where launches do not.",
    cases=CASES,
    controls=(
        Control("launched twice", LaunchedTwice.__doc__, LaunchedTwice),
        Control("same width twice", SameWidthTwice.__doc__, SameWidthTwice, CASES[1].name),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """What half the bits gain a replayed step over what they gain a launched one, by round."""
    found = sizes.gains_of_fewer_bits(engine, rounds=12, **case.params)
    floors = [
        Floor.of_weights(f"one replayed step, {name}", measured_ms=took, floor_ms=floor)
        for name, (took, floor) in found.floors_ms.items()
    ]
    return Measured(samples=found.ratios, notes=found.notes, floors=floors)


test_holds, test_control_is_caught = CLAIM.tests(measure)
