"""A prompt below the knee takes one pass of about the same time, whatever its length."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable, paired_seconds, ratios
from claims._kit.rules import median_at_most
from fixtures import phases
from fixtures.faults.timing import PrefillsInChunks
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, and A100, Qwen3-8B; 16-bit, batch 1, eager"
ROUNDS = 12
STEP, SHORT, LONGEST = "a decode step", 16, 256

CLAIM = Claim(
    id="phases/short-prompts-are-flat",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the two waits", setting=SETTING),
    figure=Figure(
        limit=1.25,
        unit="longer pass / shorter one",
        claimed="36 ms for 16 tokens, 37 ms for 256; 64 or 256 tokens cost about one decode step",
        setting=SETTING,
        why="the source's pair is 37 / 36 = 1.03; work in proportion would make it 4 to 256, and "
        "a quarter more than the same still is about the same",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="batch 1, where the arithmetic of 256 tokens costs less than a pass does anyway",
    ),
    timed=True,
    mechanism="So small a pass waits for launches and weights, not for its arithmetic.",
    cases=(
        Case(name="64 tokens", params={"long": 64, "beside": SHORT}),
        Case(name="256 tokens", params={"long": LONGEST, "beside": SHORT}),
        Case(name="256 tokens beside a decode step", params={"long": LONGEST, "beside": STEP}),
    ),
    controls=(
        Control("in chunks", PrefillsInChunks.__doc__, PrefillsInChunks, "256 tokens"),
        Control("in chunks, beside a step", PrefillsInChunks.__doc__, PrefillsInChunks,
                "256 tokens beside a decode step"),
    ),
)  # fmt: skip


def measure(engine: Any, case: Case) -> Measured:
    """Time of the longer pass over that of what it is set beside, one ratio per paired round."""
    knee = phases.knee_tokens(engine)
    if why := phases.off_scope(engine, LONGEST, side="before", knee=knee):
        raise NotApplicable(why)
    long, beside = case.params["long"], case.params["beside"]
    first = phases.one_step(engine, SHORT) if beside == STEP else phases.one_pass(engine, beside)
    pairs = paired_seconds(
        first,
        phases.one_pass(engine, long),
        rounds=ROUNDS,
        clock=time.perf_counter,
        settle=engine.settle,
    )
    return Measured(
        samples=ratios(pairs),
        x=long,
        points={"first pass, ms": 1e3 * phases.middle([after for _, after in pairs])},
        notes={"ms of both": [[1e3 * s for s in pair] for pair in pairs], "knee, tokens": knee},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
