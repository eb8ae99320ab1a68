"""Logits of a suffix are the same whether its prefix is recomputed or comes from a cache."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import fuzz, prompts
from fixtures.equivalence import chunked, compare, full_pass, null_spread
from fixtures.faults import caching
from fixtures.needs import Need

WAYS = [(a, c, d) for a in ("eager", "sdpa") for c in ("dynamic", "static") for d in ("32", "16")]
DTYPES = {"32": torch.float32, "16": torch.bfloat16}
TOKENS = 40
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
        Case(name="tiny random models", marks=(pytest.mark.fuzz,)),
    ),
    controls=(
        Control(
            name="positions restart",
            sentence="Each chunk counts its positions from zero.",
            plant=caching.PositionsRestart,
        ),
        Control(
            name="one cached row corrupted",
            sentence="One cached token has another's keys and values.",
            plant=caching.RowCorrupted,
            case="sdpa dynamic 16 bit",
        ),
        Control(
            name="cache shifted",
            sentence="Cached keys stand one position away from their values.",
            plant=caching.CacheShifted,
            case="tiny random models",
        ),
        Control(
            name="no causal mask",
            sentence="In one pass each token sees those after it.",
            plant=caching.SeesLater,
            case="tiny random models",
        ),
        Control(
            name="reads both ways",
            sentence="A BERT-like model, whose past changes with its future.",
            plant=caching.ReadsBothWays,
            case="tiny random models",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """The largest move of any logit, in units of the null arm's tolerance, one per way of cutting."""
    if "way" not in case.params:
        return measure_fuzz(engine)
    attention, cache, bits = case.params["way"]
    runner = engine.variant(attention=attention, cache_kind=cache, dtype=DTYPES[bits])
    tokens = prompts.token_ids(engine, "service_logs", TOKENS)
    reference = full_pass(runner, tokens)
    null = null_spread(runner, tokens, reference)
    found = [(cuts, compare(reference, chunked(runner, tokens, cuts), null)) for cuts in CUTS]
    cuts, worst = max(found, key=lambda pair: pair[1].excess)
    return Measured(
        samples=[difference.excess for _, difference in found],
        witness=f"{TOKENS} tokens cut at {cuts}: position {worst.position}, logit "
        f"{worst.expected:.6g} recomputed, {worst.found:.6g} cached",
        notes={
            "largest logit": reference.abs().max().item(),
            "largest difference of a logit": worst.largest,
            "null arm": null,
        },
    )


def measure_fuzz(engine: Any) -> Measured:
    """The same over drawn tiny models, prompts and cuts; a failing one is shrunk first."""
    samples, example, difference = fuzz.search(engine)
    notes: dict[str, Any] = {"examples": len(samples)}
    if example is None or difference is None:
        return Measured(samples=samples, notes=notes)
    repeat = f"{fuzz.WITNESS}='{example.to_json()}' pytest -k tiny {CLAIM.path}"
    return Measured(
        samples=samples,
        witness=f"position {difference.position}: {difference.expected:.6g} recomputed, "
        f"{difference.found:.6g} cached; repeat: {repeat}",
        notes=notes,
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
