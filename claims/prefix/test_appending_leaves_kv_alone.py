"""Keys and values of a token stay what they are when tokens are appended after it."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import cache_contents, looping
from fixtures.faults.looping import PrefillSeesLater, RewritesALayer
from fixtures.needs import Need

FIRST, APPENDED = 24, (1, 16)
KEPT, LONGER = "in the cache", "in one longer pass"
# Not 16 bits: there rounding alone moves a trained model's keys by a third of their largest, so
# that a tolerance of four times that could not fail.
DTYPES = {"32": torch.float32}

BITWISE = Figure(
    limit=0,
    unit="stored numbers that changed",
    claimed="appending never changes earlier keys and values",
    why="a cache only adds; what it holds is compared bit for bit, layer by layer",
)

CLAIM = Claim(
    id="prefix/appending-leaves-kv-alone",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, why reuse is safe"),
    figure=Figure(
        limit=1.0,
        unit="times what rounding explains",
        claimed="cached K/V are what a full re-prefill would compute",
        why="passes of other lengths round otherwise; one unit is 4 times how far keys and values "
        "(as parts of their layer's largest) move when the same pass is repeated in another "
        "batch shape and with one rounding error added per layer",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    mechanism="Token i attends to tokens 0..i alone.",
    cases=(
        *(Case(name=f"{KEPT}, {kind}", figure=BITWISE) for kind in ("dynamic", "static")),
        *(Case(name=f"{LONGER}, {bits} bit", params={"dtype": DTYPES[bits]}) for bits in DTYPES),
    ),
    controls=(
        Control(
            name="a cached layer rewritten",
            sentence="Each appended token moves the last layer's keys, by their position.",
            plant=RewritesALayer,
        ),
        Control(
            name="no causal mask",
            sentence="Each token of a pass sees those after it.",
            plant=PrefillSeesLater,
            case=f"{LONGER}, 32 bit",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Numbers changed per layer's keys and values, or excess over rounding per longer pass."""
    ids = looping.prompt_ids(engine, FIRST + max(APPENDED))
    if dtype := case.params.get("dtype"):
        moved = cache_contents.moved_by_longer_passes(
            engine.variant(dtype=dtype), ids, first=FIRST, appended=APPENDED
        )
        null = {"tokens appended": list(APPENDED), "null arm": moved[0].null}
        return Measured(samples=[difference.excess for difference in moved], notes=null)
    runner = engine.variant(cache_kind=case.name.removeprefix(f"{KEPT}, "))
    changed = cache_contents.changed_by_appending(runner, ids, first=FIRST)
    return Measured(samples=list(map(float, changed)))


test_holds, test_control_is_caught = CLAIM.tests(measure)
