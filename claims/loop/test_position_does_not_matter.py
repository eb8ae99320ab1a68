"""A token deep in a sequence takes about the time that one near its start takes."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured, paired_seconds, ratios
from claims._kit.rules import median_at_most
from fixtures import phases
from fixtures.faults.looping import NoCache
from fixtures.needs import Need

SETTING = "Qwen2.5-0.5B, T4, 1,000 tokens one after another"
# Fewer than the 7 of before, chosen to save time after nine runs had lain far from the limit.
START, ROUNDS = 16, 6

CLAIM = Claim(
    id="loop/position-does-not-matter",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the cache", setting=SETTING),
    figure=Figure(
        limit=2.0,
        unit="times a step near the start",
        claimed="the last 32 of 1,000 tokens cost what the first 32 did",
        setting=SETTING,
        why="a step of a 135M model in 32 bits reads 540 MB of weights and, after 1,000 tokens, "
        "46 MB of cache, which eager code copies and widens some five times: 1.4 times at the "
        "most, larger models less; 2 lies above that, while without a cache a step is a pass "
        "over all tokens before it, 32 times as many after 512 as after 16",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    timed=True,
    cases=(
        Case(name="4 steps after 960 tokens", params={"steps": 4, "late": 960}),
        Case(name="single steps after 512 tokens", params={"steps": 1, "late": 512}),
    ),
    controls=(
        Control(
            name="no cache",
            sentence="Each step is a pass over everything so far.",
            plant=NoCache,
            case="single steps after 512 tokens",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Time of a late window of steps over that of an early one, one ratio per paired round."""
    steps, late = case.params["steps"], case.params["late"]

    def window(start: int) -> Any:
        cache = engine.new_cache(length=start + steps * (ROUNDS + 1))
        engine.forward(phases.prompt_ids(engine, start), cache, last_only=True)
        token = phases.prompt_ids(engine, 1)
        return lambda: [engine.forward(token, cache, last_only=True) for _ in range(steps)]

    pairs = paired_seconds(
        window(START),
        window(late),
        rounds=ROUNDS,
        clock=time.perf_counter,
        settle=engine.settle,
    )
    ms = {"early, ms a step": [1e3 * a / steps for a, _ in pairs]}
    return Measured(
        samples=ratios(pairs), notes={**ms, "late, ms a step": [1e3 * b / steps for _, b in pairs]}
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
