"""Higher temperature flattens the shares; near zero only the top score is left."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import sampling
from fixtures.faults import sampling as faults

WRITTEN_OUT, FLATTER, GREEDY = "as written out", "entropy rises", "near zero is greedy"

CLAIM = Claim(
    id="sampling/temperature",
    sentence=__doc__,
    source=Source(document="one-call", where="section 4, from scores to a token"),
    figure=Figure(
        limit=1.0,
        unit="share of draws that keep the law",
        claimed="higher T flattens; T = 0 takes the top token",
        why="laws of arithmetic: the derivative of entropy by T is the scores' variance over "
        "T cubed, above zero unless all scores are equal; at T = gap / 40 each other entry has "
        "at most exp(-40) of the top one's share, so that 32 of them leave it above 1 - 1e-12",
    ),
    rule=every_one_of,
    mechanism="Scores are divided by T before softmax, so a lead of d becomes exp(d / T).",
    cases=tuple(Case(name=name) for name in (WRITTEN_OUT, FLATTER, GREEDY)),
    subject=sampling.Library(),
    quick=True,
    controls=(
        Control(
            name="T after softmax",
            sentence="Shares are divided by T instead of scores.",
            plant=lambda _: faults.TemperatureAfterSoftmax(),
            case=FLATTER,
        ),
        Control(
            name="T after softmax, near zero",
            sentence="Shares are divided by T instead of scores.",
            plant=lambda _: faults.TemperatureAfterSoftmax(),
            case=GREEDY,
        ),
        Control(
            name="T multiplies",
            sentence="Scores are multiplied by T.",
            plant=lambda _: faults.TemperatureMultiplies(),
            case=WRITTEN_OUT,
        ),
    ),
)


def measure(library: Any, case: Case) -> Measured:
    """1 for each draw of scores and temperatures that keeps the case's law, 0 for each other."""
    kept, broken = sampling.law(library, case.name)
    return Measured(samples=kept, witness=broken and f"scores and temperatures: {broken}")


test_holds, test_control_is_caught = CLAIM.tests(measure)
