"""Up to a knee, more sequences in a batch cost almost no extra time a step."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, paired_seconds, ratios
from claims._kit.rules import median_at_most
from fixtures import batching
from fixtures.faults.batching import OneAfterAnother
from fixtures.needs import Need

SETTING = "Qwen2.5-0.5B, T4, context 512"
# Fewer than the 12 of before, chosen to save time after nine runs had lain far from the limit.
CONTEXT, STEPS, ROUNDS = 32, 2, 8
UNIT, CLAIMED = "times a step of one sequence", "33-36 ms for 1 to 16 sequences"
HALF_WAY = (
    "four sequences one after another take 4 steps, riding free 1; half-way is 2.5, since a CPU "
    "computes four rows little faster than it reads weights: only a direction holds"
)


def figure(limit: float, why: str) -> Figure:
    """A limit beside the published times."""
    return Figure(limit=limit, unit=UNIT, why=why, claimed=CLAIMED, setting=SETTING)


CLAIM = Claim(
    id="batching/rides-free",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="one user, many users", setting=SETTING),
    figure=figure(2.5, HALF_WAY),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="any device; batches below the knee"),
    mechanism="Weights are read once a step for all rows.",
    timed=True,
    cases=(
        Case(name="4 sequences", params={"rows": 4}),
        Case(
            name="16 sequences, cuda",
            params={"rows": 16},
            judged_on=frozenset({"cuda"}),
            figure=figure(1.5, "36 / 33 = 1.09 published; half a step is left to other cards"),
        ),
    ),
    controls=(
        Control(
            name="one after another",
            sentence="Each row of the batch gets a pass of its own.",
            plant=OneAfterAnother,
            case="4 sequences",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Time of a step of the batch over that of one sequence, one ratio per paired round."""
    rows = case.params["rows"]
    how = {"context": CONTEXT, "steps": STEPS, "room": CONTEXT + STEPS * (ROUNDS + 1)}
    pairs = paired_seconds(
        batching.steps(engine, 1, **how),
        batching.steps(engine, rows, **how),
        rounds=ROUNDS,
        clock=time.perf_counter,
        settle=engine.settle,
    )
    one, many = zip(*pairs, strict=True)
    return Measured(
        samples=ratios(pairs),
        notes={"one, s": one, f"{rows}, s": many},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
