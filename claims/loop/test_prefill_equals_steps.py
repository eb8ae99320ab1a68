"""One masked pass over a prompt leaves what feeding it token by token leaves."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import looping
from fixtures.cache_contents import Contents, chunks_of, filled
from fixtures.equivalence import compare, null_spread
from fixtures.faults.looping import PrefillSeesLater
from fixtures.needs import Need

TOKENS = 24
DTYPES = {"32": torch.float32, "16": torch.bfloat16}

CLAIM = Claim(
    id="loop/prefill-equals-steps",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefill"),
    figure=Figure(
        limit=1.0,
        unit="times what rounding explains",
        claimed="the result is identical to processing tokens one by one",
        why="as for prefix/kv-invariance: one unit is 4 times how far logits, or keys and values "
        "as parts of their layer's largest, move when the pass is repeated in another batch "
        "shape and with one rounding error added per layer",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    mechanism="A causal mask lets each position see what it would see in turn.",
    cases=tuple(
        Case(name=f"{attention} {bits} bit", params={"attention": attention, "bits": bits})
        for attention in ("eager", "sdpa")
        for bits in DTYPES
    ),
    controls=tuple(
        Control(
            name=f"no mask, {attention}",
            sentence="In the one pass each token sees those after it.",
            plant=PrefillSeesLater,
            case=f"{attention} 16 bit",
        )
        for attention in ("eager", "sdpa")
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Excess of the logits, and excess of the keys and values, over what rounding explains."""
    dtype = DTYPES[case.params["bits"]]
    runner = engine.variant(attention=case.params["attention"], dtype=dtype)
    tokens = looping.prompt_ids(runner, TOKENS)
    singly = range(1, TOKENS)
    at_once, (logits,) = filled(runner, chunks_of(runner, tokens), length=TOKENS)
    stepped, (found,) = filled(runner, chunks_of(runner, tokens, singly), length=TOKENS)
    moved = compare(logits, found, null_spread(runner, tokens, logits))
    view = Contents(runner, tokens)
    kept, other = (view.scaled(cache, TOKENS)[0] for cache in (at_once, stepped))
    cache_moved = compare(kept, other, null_spread(view, tokens, kept))
    return Measured(
        samples=[moved.excess, cache_moved.excess],
        witness=f"position {moved.position}: logit {moved.expected:.6g} in one pass, "
        f"{moved.found:.6g} step by step; keys and values differ by {cache_moved.largest:.3g}",
        notes={"largest difference of a logit": moved.largest, "null arm": moved.null},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
