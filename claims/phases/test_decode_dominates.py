"""Most of the time of a 64-token reply goes into decode."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures import replies
from fixtures.faults.timing import StopsAtOneToken
from fixtures.needs import Need

SETTING = "Qwen3-8B, bfloat16, A100, eager attention, batch 1, 64 new tokens"
REPLY = 64


def case(device: str, prompt: int, limit: float, why: str) -> Case:
    """One prompt length, judged on one kind of device."""
    figure = Figure(
        limit=limit,
        unit="share of the whole time that is decode",
        claimed="96.9 % at 1,024 tokens, 92.8 % at 2,048",
        setting=SETTING,
        why=why,
    )
    alone = frozenset({device})
    name = f"{prompt} tokens, {device}"
    small = {"prompt": prompt // 16}
    return Case(
        name=name, params={"prompt": prompt}, figure=figure, judged_on=alone, rehearsal=small
    )


CASES = (
    case(
        "cpu",
        64,
        0.5,
        "most means more than half; at equal lengths only the speed-up of prefill"
        " per token decides, so a short prompt is the fair direction on a processor",
    ),
    case("cuda", 1024, 0.9, "the source's own range begins at 92.8 %, rounded down to a tenth"),
    case("cuda", 2048, 0.9, "the source's own range begins at 92.8 %, rounded down to a tenth"),
)

CLAIM = Claim(
    id="phases/decode-dominates",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3, a whole call", setting=SETTING),
    figure=CASES[0].figure,
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1, replies of 64 tokens"),
    timed=True,
    mechanism="Prefill is one pass, a reply of n tokens takes n - 1 further ones.",
    cases=CASES,
    controls=(
        Control("one-token reply, cpu", StopsAtOneToken.__doc__, StopsAtOneToken, CASES[0].name),
        Control("one-token reply, cuda", StopsAtOneToken.__doc__, StopsAtOneToken, CASES[1].name),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """The share of each round's time that comes after the first token."""
    prompt = case.params["prompt"]
    replies.warm_up(engine, prompt)
    rounds = [replies.waits(engine, prompt, REPLY) for _ in range(replies.ROUNDS)]
    return Measured(
        samples=[waits.decode_share for waits in rounds],
        notes={"first and whole ms": [[w.first_ms, w.total_ms] for w in rounds]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
