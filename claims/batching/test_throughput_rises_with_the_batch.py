"""Tokens a second rise with the batch, up to a knee nearly in proportion."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, paired_seconds
from claims._kit.rules import median_at_least
from fixtures import batching, phases
from fixtures.faults.batching import OneAfterAnother
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, 512 tokens of context"
STEPS, ROUNDS = 2, 8


def case(rows: int) -> Case:
    """One batch, set beside a single sequence."""
    figure = Figure(
        limit=min(rows, 16) / 2,
        unit="times the tokens a second of one sequence",
        claimed="30 to 445 tok/s at 16 (15 times), 582 at 32, 637 at 64; 33-36, 55, 100 ms a step",
        setting=SETTING,
        why="nearly in proportion up to 16 is at least half of it; past the knee no more is asked "
        "than at 16, one after another would be 1",
    )
    size = {"rows": rows, "context": 512}
    small = {"context": 16}
    return Case(name=f"{rows} sequences", params=size, figure=figure, rehearsal=small)


CASES = tuple(case(rows) for rows in (2, 4, 8, 16, 32, 64))

CLAIM = Claim(
    id="batching/throughput-rises-with-the-batch",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="latency and throughput", setting=SETTING),
    figure=CASES[0].figure,
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="static batches of equally long sequences",
    ),
    timed=True,
    mechanism="The weights are read once for all rows, until what each brings along outweighs it.",
    cases=CASES,
    controls=(
        Control("one after another", OneAfterAnother.__doc__, OneAfterAnother, "16 sequences"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Tokens a second of the batch over those of one sequence, one ratio per paired round."""
    rows, context = case.params["rows"], case.params["context"]
    how = {"context": context, "steps": STEPS, "room": context + STEPS * (ROUNDS + 1)}
    pairs = paired_seconds(
        batching.steps(engine, 1, **how),
        batching.steps(engine, rows, **how),
        rounds=ROUNDS,
        clock=time.perf_counter,
        settle=engine.settle,
    )
    step_s = phases.middle([many for _, many in pairs]) / STEPS
    return Measured(
        samples=[rows * one / many for one, many in pairs],
        x=rows,
        points={"step, ms": 1e3 * step_s, "tokens/s": rows / step_s},
        notes={"ms a step, one and all": [[1e3 * s / STEPS for s in pair] for pair in pairs]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
