"""A compiled decode step of a small model is faster than the same step run eagerly."""

from __future__ import annotations

import time
from typing import Any

import pytest

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable, paired_seconds
from claims._kit.rules import median_at_least
from fixtures.faults.ladder import EagerTwice, Swapped
from fixtures.ladder import ROUNDS, STEPS, Ladder, why_no_compiler

pytestmark = pytest.mark.slow  # the compiler's start-up; controls need it as well

SETTING = "Tesla T4, batch 1, 1,024 tokens of context, Qwen2.5-0.5B and 1.5B at 16 bits"
# Two 32-bit computations of one value through some hundred roundings of 6e-8 each.
SAME = 1e-4

CLAIM = Claim(
    id="roofline/ladder",
    sentence=__doc__,
    source=Source(
        document="where-time-goes", where="so why not just optimise it?", setting=SETTING
    ),
    figure=Figure(
        limit=1,
        unit="eager / compiled",
        claimed="33.2 -> 13.1 ms (0.5B), 37.6 -> 19.1 ms (1.5B); about 30 s of start-up",
        setting=SETTING,
        why="the order alone: above 1 the compiled step is the faster one; how much it gains "
        "depends on model and machine",
    ),
    rule=median_at_least,
    cases=(Case(name="eager and compiled, cpu"),),
    subject=Ladder(),
    timed=True,
    scope=Scope(
        lanes=frozenset({"cpu"}),
        judged_on=frozenset({"cpu"}),
        says="a random two-layer model in 32 bits, static cache, batch 1; two rungs, order only",
    ),
    mechanism="Compilation fuses neighbouring operations and dispatches them together.",
    controls=(
        Control(
            name="rungs swapped", sentence="Each rung goes by the other's name.", plant=Swapped
        ),
        Control(
            name="eager twice",
            sentence="The rung called compiled runs every step eagerly, and twice.",
            plant=EagerTwice,
        ),
    ),
)


def measure(ladder: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """Eager over compiled time of the same steps, one ratio per paired round."""
    if trouble := why_no_compiler():
        raise NotApplicable(trouble)
    eager, compiled = ladder.rungs()
    pairs = paired_seconds(eager.steps, compiled.steps, rounds=ROUNDS, clock=time.perf_counter)
    ms = [[1e3 * seconds / STEPS for seconds in pair] for pair in pairs]
    apart = ladder.furthest_apart
    return Measured(
        samples=[slow / fast for slow, fast in pairs],
        notes={
            "eager and compiled step, ms": ms,
            "compiler start-up, s": ladder.start_up_s,
            "logits apart, share of the largest": apart,
        },
        disturbed="" if apart <= SAME else f"the rungs' logits differ by {apart:.2g}",
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
