"""The wait for the first token does not depend on how long the reply gets; the whole does."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least, median_at_most
from fixtures import replies
from fixtures.faults.timing import StreamsAtTheEnd
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, batch 1, replies of 1 to 500 tokens"
SHORT, LONG = (64, 2), (64, 8)

CLAIM = Claim(
    id="phases/first-token-ignores-reply",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the two waits", setting=SETTING),
    figure=Figure(
        limit=1.25,
        unit="first wait, 8-token reply / 2-token reply",
        claimed="152-169 ms for 1 to 500 tokens (a factor of 1.11)",
        setting=SETTING,
        why="the source's own spread is 1.11; twice its distance from 1, rounded up, leaves room "
        "for a busy machine, while a wait that followed the reply would be near 2",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1, an engine that streams"),
    timed=True,
    mechanism="The first token is ready after prefill, before any decode step.",
    cases=(
        Case(name="first wait"),
        Case(
            name="whole reply",
            rule=median_at_least.__name__,
            figure=Figure(
                limit=1.5,
                unit="whole time, 8-token reply / 2-token reply",
                claimed="0.15 to 17 s for 1 to 500 tokens",
                setting=SETTING,
                why="four times the steps give 4 without any prefill; a prefill worth four "
                "steps would still leave (4 + 8) / (4 + 2) = 2; one half of the way from 1",
            ),
        ),
    ),
    controls=(Control("streams at the end", StreamsAtTheEnd.__doc__, StreamsAtTheEnd),),
)


def measure(engine: Any, case: Case) -> Measured:
    """The long reply's wait over the short one's, one ratio per paired round."""
    pairs = replies.in_turn(engine, SHORT, LONG, rounds=replies.MANY_ROUNDS)
    first = case.name == "first wait"
    return Measured(
        samples=[
            long.first_ms / short.first_ms if first else long.total_ms / short.total_ms
            for short, long in pairs
        ],
        notes={
            "short reply, first and whole ms": [[a.first_ms, a.total_ms] for a, _ in pairs],
            "long reply, first and whole ms": [[b.first_ms, b.total_ms] for _, b in pairs],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
