"""Logits of a suffix are the same whether its prefix is recomputed or comes from a cache."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import fuzz, prompts
from fixtures.equivalence import cut_in_many_ways
from fixtures.faults import caching
from fixtures.needs import Need

WAYS = [(a, c, d) for a in ("eager", "sdpa") for c in ("dynamic", "static") for d in ("32", "16")]
DTYPES = {"32": torch.float32, "16": torch.bfloat16}
TOKENS = 40
FUZZ, WORST = "tiny random models", "sdpa dynamic 16 bit"
CUTS = ((1,), (20,), (39,), (7, 8, 30), tuple(range(1, 40, 6)))

CLAIM = Claim(
    id="prefix/kv-invariance",
    sentence=__doc__,
    source=Source(
        document="one-call",
        where="section 1, why reuse is safe",
        setting="Qwen3-8B, bfloat16, A100, 10 turns",
    ),
    figure=Figure(
        limit=1.0,
        unit="times what rounding explains",
        claimed="at most 1.19 on logits of 50-60, same token on 10 of 10 turns",
        setting="Qwen3-8B, bfloat16, A100, eager attention",
        why="the null arm repeats the pass in another batch shape and with one rounding error "
        "added per layer; a layer rounds at about eight places, so 4 (> sqrt 8) times the null "
        "arm's spread is one unit here, per number type and model",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    mechanism="Causal attention: appending tokens never changes keys and values before them.",
    cases=(
        *(Case(name=f"{a} {c} {d} bit", params={"way": (a, c, d)}) for a, c, d in WAYS),
        Case(name=FUZZ),
    ),
    controls=(
        Control("positions restart", caching.PositionsRestart.__doc__, caching.PositionsRestart),
        Control("row corrupted", caching.RowCorrupted.__doc__, caching.RowCorrupted, WORST),
        Control("cache shifted", caching.CacheShifted.__doc__, caching.CacheShifted, FUZZ),
        Control("no causal mask", caching.SeesLater.__doc__, caching.SeesLater, FUZZ),
        Control("reads both ways", caching.ReadsBothWays.__doc__, caching.ReadsBothWays, FUZZ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """The largest move of any logit per comparison, in units of the null arm's tolerance."""
    if "way" not in case.params:
        return Measured(**vars(fuzz.search(engine, path=CLAIM.path)))
    attention, cache, bits = case.params["way"]
    runner = engine.variant(attention=attention, cache_kind=cache, dtype=DTYPES[bits])
    tokens = prompts.token_ids(engine, "service_logs", TOKENS)
    return Measured(**vars(cut_in_many_ways(runner, tokens, CUTS)))


test_holds, test_control_is_caught = CLAIM.tests(measure)
