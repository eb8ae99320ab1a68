"""Qwen3's template rewrites each finished turn, so the shared prefix ends 4 ids early."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.chat_formats import QWEN3, shared
from fixtures.chats import STATUS_CODE, devops_chat, devops_turns
from fixtures.faults import templates as faults

FOLLOWED_UP = [
    *STATUS_CODE,
    {"role": "assistant", "content": "404"},
    {"role": "user", "content": "And for Forbidden?"},
]
CHATS = {
    "sample request": [STATUS_CODE, FOLLOWED_UP],
    "DevOps chat": [devops_chat(turn) for turn in range(1, devops_turns() + 1)],
}

CLAIM = Claim(
    id="prefix/template-rewrites-history",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the trap in the benchmark"),
    figure=Figure(
        limit=4,
        unit="ids at the end of a prompt that the next prompt does not repeat",
        claimed="4 tokens before the reply",
        setting="Qwen3-8B's template, thinking off",
        why="the prompt ends in an empty think block of four ids (open, blank line, close, blank "
        "line) that the template leaves out once the turn is history; the count is exact",
    ),
    rule=every_sample_equals,
    mechanism="A prefix cache matches ids from the start and stops at the first that differs.",
    cases=tuple(Case(name=name) for name in CHATS),
    subject=QWEN3,
    quick=True,
    controls=tuple(
        Control(
            name=f"history kept, {name}",
            sentence="The template writes history byte for byte as earlier prompts had it.",
            plant=faults.history_kept,
            case=name,
        )
        for name in CHATS
    ),
)


def measure(chat_format: Any, case: Case) -> Measured:
    """Ids lost at each turn: those of a prompt, less those it shares with the next one."""
    prompts = [chat_format.ids(chat) for chat in CHATS[case.name]]
    pairs = list(pairwise(prompts))
    kept = [shared(before, after) for before, after in pairs]
    lost = [len(before) - n for (before, _), n in zip(pairs, kept, strict=True)]
    before, after = pairs[0]
    decode = chat_format.tokenizer.decode
    return Measured(
        samples=lost,
        witness=f"turn 1 shares {kept[0]} of {len(before)} ids: {decode(before[kept[0] :])!r} "
        f"became {decode(after[kept[0] : kept[0] + 4])!r}",
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
