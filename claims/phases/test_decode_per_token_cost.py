"""Per token, decode costs far more than prefill."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Floor, Measured
from claims._kit.rules import median_at_least
from fixtures import phases
from fixtures.faults.timing import PrefillsTokenByToken
from fixtures.floors import weights_floor_ms
from fixtures.needs import Need

SETTING = "Qwen3-8B, bfloat16, A100, eager attention, batch 1, 64 new tokens"
DIRECTION = "one times is the direction; half more keeps clear of what each call costs anyway"
BOUND = {
    "cpu": "at best a pass takes max(bytes/bandwidth, operations/rate): with 4-byte weights a "
    "ratio of 2 x rate/bandwidth; 100 GFLOP/s and 20 GB/s, two cores, give 10: a fifth of it",
    "cuda": "the source's own bound at 1,024 tokens: a hundredfold, a fifth of what it measured",
}
CLAIMED = {512: "78.0 ms a prefill, 63.2 ms a step", 1024: "494x"}


def case(tokens: int, device: str) -> Case:
    """One prompt length on one kind of device; the published bound is judged at 1,024."""
    figure = Figure(
        limit=1.5 if tokens != 1024 else {"cpu": 2.0, "cuda": 100.0}[device],
        why=DIRECTION if tokens != 1024 else BOUND[device],
        unit="decode / prefill time per token",
        claimed=CLAIMED.get(tokens, "no ratio printed for this length"),
        setting=SETTING,
    )
    name, alone = f"{tokens} tokens, {device}", frozenset({device})
    small = {"tokens": max(16, tokens // 16)}
    return Case(
        name=name, params={"tokens": tokens}, figure=figure, judged_on=alone, rehearsal=small
    )


CASES = (
    *(case(tokens, "cpu") for tokens in (1024, 512, 256, 64, 16)),
    *(case(tokens, "cuda") for tokens in (2048, 1024, 512, 256, 64)),
)
SLOW = PrefillsTokenByToken

CLAIM = Claim(
    id="phases/decode-per-token-cost",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3, prefill against decode", setting=SETTING),
    figure=CASES[0].figure,
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1; prompts of 16 to 2,048 tokens"),
    mechanism="One prefill pass reads each weight once for all its tokens, decode once per token.",
    timed=True,
    cases=CASES,
    controls=(
        Control("prefill token by token, cpu", SLOW.__doc__, SLOW, "16 tokens, cpu"),
        Control("prefill token by token, cuda", SLOW.__doc__, SLOW, "64 tokens, cuda"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Time of a decode step over that of a prefilled token, one ratio per paired round."""
    timed = phases.paired_rounds(engine, case.params["tokens"])
    step_ms, floor_ms = phases.middle(timed.step_ms), weights_floor_ms(engine)
    return Measured(
        samples=timed.ratios,
        x=timed.tokens,
        points=timed.rates,
        notes={"prefill_ms": timed.prefill_ms, "step_ms": timed.step_ms, "steps": phases.STEPS},
        floors=[Floor.of_weights("one decode step", measured_ms=step_ms, floor_ms=floor_ms)],
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
