"""Turn by turn a chat that reuses its cache picks the next token that a full prefill picks."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import resuming
from fixtures.faults.looping import OtherPrefix
from fixtures.needs import Need

FOUR, TEN = "first four turns", "ten turns"
SETTING = "Qwen3-8B, bfloat16, A100, a DevOps chat of ten turns"

CLAIM = Claim(
    id="prefix/cached-and-full-pick-the-same-token",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the ten-turn chat", setting=SETTING),
    figure=Figure(
        limit=1.0,
        unit="share of turns at which both pick the same token",
        claimed="the same next token on 10 of 10 turns",
        setting=SETTING,
        why="reuse changes rounding alone, far less than the lead of the highest score here, so "
        "that one turn that differs refutes it",
    ),
    rule=every_one_of,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.KV_CACHE, Need.CHAT_TEMPLATE}),
    mechanism="The cache is cut where a prompt stops matching, and only the rest is prefilled.",
    cases=(
        Case(name=FOUR, params={"turns": 4}),
        # Ten turns re-send some 7,000 tokens: minutes on a few cores.
        Case(name=TEN, params={"turns": 10}, judged_on=frozenset({"cuda"})),
    ),
    controls=(
        Control(
            name="prefix differs by one token",
            sentence="The cache under the last token holds another token just before it.",
            plant=OtherPrefix,
            case=FOUR,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each turn at which the cached chat and a full prefill pick the same token."""
    prompts = resuming.turns(engine)[: case.params["turns"]]
    chat = resuming.Chat(engine, length=len(prompts[-1]))
    picks = [(chat.first_token(prompt), resuming.whole(engine, prompt)) for prompt in prompts]
    words = [tuple(engine.tokenizer.decode([token]) for token in pair) for pair in picks]
    off = [f"turn {i}: {a!r} cached, {b!r} full" for i, (a, b) in enumerate(words, 1) if a != b]
    return Measured(
        samples=[float(cached == full) for cached, full in picks],
        witness=off[0] if off else "",
        notes={"prompts of tokens": [len(p) for p in prompts], "picked": [b for _, b in words]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
