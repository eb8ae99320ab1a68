"""The work of a reply grows linearly with a cache and quadratically without one."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import rework
from fixtures.faults import looping as faults

PROMPT, REPLIES = 16, (256, 512, 1024, 2048)
WITH, WITHOUT = "with a cache", "without a cache"
WHY = (
    "an exponent between replies of n and 2n tokens, n = 256, 512, 1,024, after 16 tokens; both "
    "arms leave their ideal by less than 0.2: the prompt takes log2 of (2n + 32) / (2n + 64), "
    "0.08 at 256, off 2, and attention adds at most its own share of the work (near a tenth at "
    "these lengths) to 1"
)
UNIT = "growth exponent of the FLOPs of a reply"

CLAIM = Claim(
    id="loop/cache-avoids-rework",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="the KV cache"),
    figure=Figure(limit=1.2, unit=UNIT, why=WHY, claimed="each key and value is computed once"),
    rule=every_sample_at_most,
    cases=(
        Case(name=WITH),
        Case(
            name=WITHOUT,
            rule="every_sample_at_least",
            figure=Figure(limit=1.8, unit=UNIT, why=WHY, claimed="work adds up quadratically"),
        ),
    ),
    subject=rework.ReplyWork("qwen2.5-0.5b"),
    controls=(
        Control(
            name="cached arm without a cache",
            sentence="The arm that is to reuse its cache recomputes everything.",
            plant=faults.cached_arm_recomputes,
            case=WITH,
        ),
        Control(
            name="other arm with a cache",
            sentence="The arm that is to recompute everything reuses a cache.",
            plant=faults.uncached_arm_reuses,
            case=WITHOUT,
        ),
    ),
)


def measure(work: Any, case: Case) -> Measured:
    """The exponent of each doubling of the reply."""
    arm = work.cached if case.name == WITH else work.uncached
    cost = {n: arm(PROMPT, n) for n in REPLIES}
    return Measured(
        samples=rework.growth(list(cost.values())),
        notes={f"GFLOP for {n} tokens": round(flops / 1e9, 1) for n, flops in cost.items()},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
