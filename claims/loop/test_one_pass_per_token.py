"""A reply of n tokens takes one pass over the prompt and one for each token after the first."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import looping
from fixtures.faults.looping import NoCache
from fixtures.needs import Need

PROMPT, REPLIES = 8, (1, 2, 8)
HAND, LIBRARY, SOURCE = "hand-written loop", "the library's generate", "as the source counts"
SETTING = "Qwen2.5-0.5B, T4, 1,024 tokens in, 32 out"

CLAIM = Claim(
    id="loop/one-pass-per-token",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the loop", setting=SETTING),
    figure=Figure(
        limit=0,
        unit="passes, or tokens fed, beyond 1 prefill and n - 1 steps",
        claimed="one pass over the prompt, then one per token",
        setting=SETTING,
        why="the prompt's pass gives the first token and each further pass one more: n passes, "
        "fed the prompt once and n - 1 tokens singly; both counts are exact",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    cases=(
        Case(name=HAND, params={"reply": looping.hand_reply}),
        Case(name=LIBRARY, params={"reply": looping.library_reply}),
        Case(
            name=SOURCE,
            params={"reply": looping.hand_reply, "replies": (32,)},
            figure=Figure(
                limit=33,
                unit="passes for a reply of 32 tokens",
                claimed="33 passes for 32 tokens (1 + 32)",
                setting=SETTING,
                why="the source's own count, taken as it is printed",
            ),
        ),
    ),
    controls=tuple(
        Control(
            name=f"no cache, {case}",
            sentence="Each pass is fed everything so far again.",
            plant=NoCache,
            case=case,
        )
        for case in (HAND, LIBRARY)
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Passes and tokens fed beyond what replies of 1, 2 and 8 tokens need."""
    ids = looping.prompt_ids(engine, PROMPT)
    beyond, told = [], {}
    for tokens in case.params.get("replies", REPLIES):
        with looping.passes(engine) as fed:
            reply = case.params["reply"](engine, ids, tokens)
        beyond += [len(fed) - len(reply), sum(fed) - (PROMPT + len(reply) - 1)]
        told[f"tokens fed for {len(reply)}"] = " ".join(map(str, fed))
    samples = [float(len(fed))] if case.name == SOURCE else list(map(float, beyond))
    return Measured(samples=samples, witness=f"prompt of {PROMPT} tokens", notes=told)


test_holds, test_control_is_caught = CLAIM.tests(measure)
