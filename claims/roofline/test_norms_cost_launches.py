"""The normalisations of a step cost nearly what its MLPs do, which hold most of the weights."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable, paired_seconds, ratios
from claims._kit.rules import median_at_least
from fixtures import sizes, stages
from fixtures.faults.tracing import NormsPassThrough
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, stages timed one by one"
ROUNDS = 24

CLAIM = Claim(
    id="roofline/norms-cost-launches",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=0.5,
        unit="all normalisations / all MLPs",
        claimed="4.0 and 4.9 ms (0.82); the MLPs hold 64 % of the weights",
        setting=SETTING,
        why="in proportion to weights it would be 0.0001, for 44 thousand against 314 million; "
        "half is nearly as much beside that, and leaves room for fused norms",
    ),
    rule=median_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, eager, batch 1, weights up to 2 GB",
    ),
    timed=True,
    mechanism="At batch 1 a stage costs its launches, not what it computes.",
    controls=(Control("norms hand on", NormsPassThrough.__doc__, NormsPassThrough),),
)


def measure(engine: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """Time of all normalisations over that of all MLPs, one ratio per paired round."""
    if why := sizes.too_large(engine):
        raise NotApplicable(why)
    norms, mlps = stages.stages(engine)
    pairs = paired_seconds(
        mlps, norms, rounds=ROUNDS, clock=time.perf_counter, settle=engine.settle
    )
    notes = {"MLPs and norms, ms": [[1e3 * s for s in pair] for pair in pairs]}
    return Measured(samples=ratios(pairs), notes=notes)


test_holds, test_control_is_caught = CLAIM.tests(measure)
