"""Late in a chat a prompt whose prefix is cached gives its first token sooner."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured, paired_seconds, ratios
from claims._kit.rules import median_at_least
from fixtures import resuming
from fixtures.faults.looping import PrefillsAgain
from fixtures.needs import Need

SETTING = "Qwen3-8B, A100, turn 10 of the chat, 963 tokens, median of 5"
# A GPU gains nothing below some 500 tokens; a CPU, which has no such knee, shows it at turn 3.
TURN = {"cuda": 10, "cpu": 3}
# Fewer than the 7 of before, chosen to save time after nine runs had lain far from the limit.
ROUNDS = 6

CLAIM = Claim(
    id="prefix/first-token-time",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the ten-turn chat", setting=SETTING),
    figure=Figure(
        limit=1.5,
        unit="times the cached prompt's time to the first token",
        claimed="139 ms in full, 64.2 ms cached at turn 10 (2.2 times)",
        setting=SETTING,
        why="at turn 3 the prompt has about three times the tokens that the turn adds, at turn 10 "
        "ten times; half of three is asked, above 1 by far more than a pass's fixed cost",
    ),
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE, Need.CHAT_TEMPLATE}),
    mechanism="Only tokens after the cached prefix are prefilled.",
    timed=True,
    cases=(Case(name="late turn"),),
    controls=(
        Control(
            name="prefilled again",
            sentence="The cached arm secretly starts from nothing.",
            plant=PrefillsAgain,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:  # noqa: ARG001
    """Time to the first token in full over that with a cache, one ratio per paired round."""
    turn = TURN[engine.device]
    before, prompt = resuming.turns(engine)[turn - 2 : turn]
    chat = resuming.Chat(engine, length=len(prompt))
    chat.first_token(before)
    kept = resuming.shared(before, prompt)

    def cached() -> None:
        chat.cut(kept)
        chat.first_token(prompt)

    pairs = paired_seconds(
        cached,
        lambda: resuming.whole(engine, prompt),
        rounds=ROUNDS,
        clock=time.perf_counter,
        settle=engine.settle,
    )
    ms = {"cached ms": [1e3 * a for a, _ in pairs], "full ms": [1e3 * b for _, b in pairs]}
    told = {"turn": turn, "tokens": len(prompt), "of them cached": kept}
    return Measured(samples=ratios(pairs), notes={**told, **ms})


test_holds, test_control_is_caught = CLAIM.tests(measure)
