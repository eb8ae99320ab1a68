"""Unfused attention takes a far larger share of a prefill's time than of its arithmetic."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_at_least
from fixtures import attention_kernels, tracing
from fixtures.dimensions import Dimensions
from fixtures.faults.tracing import FusedTwice
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B at 16 bits, 1,024 tokens; fused kernels refuse that device"

CLAIM = Claim(
    id="roofline/unfused-attention-takes-time",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefill", setting=SETTING),
    figure=Figure(
        limit=2,
        unit="share of time saved by fusing / share of arithmetic",
        claimed="4 % of the operations, two thirds of 137 ms (a factor of 15)",
        setting=SETTING,
        why="time that followed arithmetic would give at most 1, as fusing saves at most all of "
        "attention; far larger is at least twice that",
    ),
    rule=every_sample_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="prompts of 1,024 tokens; devices on which a fused kernel runs; kernel time, no gaps",
    ),
    timed=True,
    profiled=True,
    mechanism="An unfused kernel writes every score to memory and reads it back three times over.",
    cases=(Case(name="all", params={"tokens": 1024}, rehearsal={"tokens": 64}),),
    controls=(Control("fused in both arms", FusedTwice.__doc__, FusedTwice),),
)


def measure(engine: Any, case: Case) -> Measured:
    """What fusing saves of the device's busy time, over attention's share of the arithmetic."""
    tokens = case.params["tokens"]
    config = engine.model.config.get_text_config().to_dict()
    tried = attention_kernels.tried(config, engine, tokens)
    if why := attention_kernels.none_fused(tried):
        raise NotApplicable(why)
    flops = Dimensions.of(config).flops(tokens, causal=True)
    share = flops.attention / flops.all
    kinds = {"unfused": getattr(engine, "unfused", "eager"), "fused": "sdpa"}
    busy = {}
    for name, attention in kinds.items():
        runner = engine.variant(attention=attention)
        busy[name] = tracing.busy_ms(tracing.prefill(runner, tokens), runner)
    pairs = zip(busy["unfused"], busy["fused"], strict=True)
    return Measured(
        samples=[(slow - fast) / slow / share for slow, fast in pairs],
        notes={
            "busy ms": busy,
            "share of arithmetic": share,
            "kernels of attention": tried,
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
