"""A reply takes as long as its tokens times the time of a step."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures import replies
from fixtures.faults.timing import RereadsItsReply
from fixtures.needs import Need

SETTING = "Qwen3-8B, bfloat16, A100, eager attention, batch 1"
SHORT, LONG = (16, 4), (16, 10)

CLAIM = Claim(
    id="phases/long-reply-cost",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3, a 500-token reply", setting=SETTING),
    figure=Figure(
        limit=0.25,
        unit="departure from proportion",
        claimed="500 tokens x 64 ms = about 32 s",
        setting=SETTING,
        why="9 steps after the first token take three times as long as 3; reading even a quarter "
        "of the reply again before each token makes it almost six times, a departure of 0.9; a "
        "good quarter of that leaves room for a busy machine",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1, contexts short enough that a step's time is flat"),
    timed=True,
    mechanism="Each step reads the same weights once, whatever came before it.",
    controls=(Control("rereads its reply", RereadsItsReply.__doc__, RereadsItsReply),),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far three times the steps are from taking three times as long, per paired round."""
    pairs = replies.in_turn(engine, SHORT, LONG, rounds=replies.MANY_ROUNDS)
    decode = [(a.total_ms - a.first_ms, b.total_ms - b.first_ms) for a, b in pairs]
    return Measured(
        samples=[abs(long / (3 * short) - 1) for short, long in decode],
        notes={
            "decode ms of 3 and of 9 steps": [list(pair) for pair in decode],
            "case": case.name,
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
