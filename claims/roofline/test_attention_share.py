"""Attention is four percent of the arithmetic of a 1,024-token prefill."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.counting import Counting
from fixtures.faults.counting import LongPrompt, NoQuadraticPart

SHAPE, TOKENS = "qwen2.5-0.5b", 1024
SETTING = "Qwen2.5-0.5B at 16 bits on a Tesla T4, prompt of 1,024"

CLAIM = Claim(
    id="roofline/attention-share",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefill", setting=SETTING),
    figure=Figure(
        limit=4,
        unit="% of the operations, to a whole number",
        claimed="4 %",
        setting=SETTING,
        why="scores and sums of 14 heads x 64 numbers x 24 layers over 1,024 x 1,025 / 2 visible "
        "pairs, 4 operations each: 45.1 G of 1,056.8 G = 4.27 %",
    ),
    rule=every_sample_equals,
    subject=Counting(),
    quick=True,
    scope=Scope(
        lanes=frozenset({"cpu"}),
        says="operations the causal mask asks for; a kernel without fusion computes twice as many",
    ),
    controls=(
        Control(
            name="a prompt of 8,192",
            sentence="The pass is over eight times the tokens, where attention is no small part.",
            plant=lambda _: LongPrompt(),
        ),
        Control(
            name="no quadratic part",
            sentence="Each token is counted as if it attended to itself alone.",
            plant=lambda _: NoQuadraticPart(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """Attention's share in percent: derived from the configuration, and counted on meta."""
    derived = counting.dimensions(SHAPE).flops(TOKENS, causal=True)
    square = counting.flops(counting.engine(SHAPE), TOKENS)
    counted = square.causal(TOKENS)
    found = [100 * flops.attention / flops.all for flops in (derived, counted)]
    return Measured(
        samples=[round(share) for share in found],
        witness=f"derived {found[0]:.3f} %, counted {found[1]:.3f} %",
        notes={
            "derived and counted, %": found,
            "with the masked half, as an unfused kernel computes it, %": 100
            * square.attention
            / square.all,
            "operations": counted.all,
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
