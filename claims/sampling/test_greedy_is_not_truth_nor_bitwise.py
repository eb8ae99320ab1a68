"""Greedy decoding repeats on one system, may differ on another, and can be wrong on both."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import products
from fixtures.faults.sampling import DrawsAnew
from fixtures.needs import Need

REPEATS, DIFFERS, WRONG = "repeats on one system", "differs between systems", "gives wrong answers"
EXISTS = (
    "one example shows that it happens; none among twelve would not show that it never does, so "
    "that this case can be inconclusive and is never refuted"
)


def exists(name: str, unit: str, claimed: str) -> Case:
    """A case that one example confirms: an exact interval that starts above zero."""
    figure = Figure(limit=0.0, unit=unit, why=EXISTS, claimed=claimed)
    return Case(name=name, rule="share_at_least", figure=figure)


CLAIM = Claim(
    id="sampling/greedy-is-not-truth-nor-bitwise",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="one forward pass, one token"),
    figure=Figure(
        limit=1.0,
        unit="share of replies that come out the same again",
        claimed="temperature 0 removes sampling randomness",
        why="the same sums in the same order round the same, so that not one token may differ",
    ),
    rule=every_one_of,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.KV_CACHE, Need.CHAT_TEMPLATE}),
    cases=(
        Case(name=REPEATS),
        exists(DIFFERS, "share of replies that differ", "no bit-for-bit reproducibility"),
        exists(WRONG, "share of wrong products", "it does not make the answer correct"),
    ),
    controls=(
        Control(
            name="draws anew",
            sentence="Each call samples at T = 1 from a seed of its own.",
            plant=DrawsAnew,
            case=REPEATS,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """For each of twelve products: 1 if the two replies agree, differ, or the one is wrong."""
    asked = products.prompts_of(engine)
    first = products.replies(engine, asked)
    if case.name == WRONG:
        pairs = list(zip(products.FACTORS, first, strict=True))
        wrong = [float(not products.is_right(pair, text)) for pair, (_, text) in pairs]
        return Measured(samples=wrong, notes={f"{a} x {b}": t for (a, b), (_, t) in pairs})
    other = engine
    if case.name == DIFFERS:
        # Two systems: fused attention in 16 bits, and unfused in the target's own number type.
        other = engine.variant(attention="sdpa", dtype=torch.bfloat16)
        first = products.replies(engine.variant(attention="eager"), asked)
    second = products.replies(other, asked)
    same = [a == b for (a, _), (b, _) in zip(first, second, strict=True)]
    told = [f"{a!r} and {b!r}" for (i, a), (j, b) in zip(first, second, strict=True) if i != j]
    samples = [float(alike == (case.name == REPEATS)) for alike in same]
    return Measured(samples=samples, witness=told[0] if told else "", notes={"differ": told})


test_holds, test_control_is_caught = CLAIM.tests(measure)
