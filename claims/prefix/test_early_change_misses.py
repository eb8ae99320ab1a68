"""A stamp at the top of the prompt makes all after it a cache miss; at the end it does not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.chat_formats import QWEN3, shared
from fixtures.chats import devops_turns
from fixtures.faults import templates as faults
from fixtures.stamps import END, STAMPS, TOP, StampedChat

MISSES = Figure(
    limit=0,
    unit="ids after the system message that the next request reuses",
    claimed="everything after it misses the cache",
    why="a cached prefix ends at the first id that differs, which lies in the system message",
)
KEEPS = Figure(
    limit=4,
    unit="ids of a request that the next one does not reuse",
    claimed="append anything dynamic at the end",
    setting="Qwen3-8B's template, thinking off",
    why="what was sent stays in the history as it was, so only the 4 ids are lost that Qwen3's "
    "template takes back anyway (prefix/template-rewrites-history)",
)

CLAIM = Claim(
    id="prefix/early-change-misses",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, rule 1"),
    figure=MISSES,
    rule=every_sample_equals,
    mechanism="Keys and values of a token depend on every id before it.",
    cases=tuple(
        Case(
            name=f"{kind} at the {place}",
            params={"kind": kind, "place": place},
            figure=MISSES if place == TOP else KEEPS,
        )
        for kind in STAMPS
        for place in (TOP, END)
    ),
    subject=StampedChat(QWEN3),
    quick=True,
    controls=(
        Control(
            name="both at the end",
            sentence="The stamp stands at the end when it is asked for at the top.",
            plant=faults.stamped_at(END),
            case="timestamp at the top",
        ),
        Control(
            name="both at the top",
            sentence="The stamp stands at the top when it is asked for at the end.",
            plant=faults.stamped_at(TOP),
            case="timestamp at the end",
        ),
    ),
)


def measure(chat: Any, case: Case) -> Measured:
    """At each turn: ids reused after the system message (top), or ids not reused (end)."""
    prompts = [chat.ids(turn, **case.params) for turn in range(1, devops_turns() + 1)]
    pairs = list(pairwise(prompts))
    kept = [shared(before, after) for before, after in pairs]
    lost = [len(before) - n for (before, _), n in zip(pairs, kept, strict=True)]
    late = [max(0, n - chat.system_ends(p)) for n, (p, _) in zip(kept, pairs, strict=True)]
    told = f"request 10 reuses {kept[-1]} of {len(prompts[-1])} ids"
    return Measured(samples=late if case.figure is MISSES else lost, witness=told)


test_holds, test_control_is_caught = CLAIM.tests(measure)
