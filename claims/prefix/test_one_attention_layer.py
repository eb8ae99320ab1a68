"""One causal attention layer gives the new tokens the same output with a cached prefix."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures.engines.one_layer import Layer
from fixtures.faults import one_layer as faults

CLAIM = Claim(
    id="prefix/one-attention-layer",
    sentence=__doc__,
    source=Source(
        document="one-call",
        where="section 1, the small PyTorch check",
        setting="16 cached and 8 new tokens, width 64, 32-bit, seed 42",
    ),
    figure=Figure(
        limit=1e-5,
        unit="largest absolute difference",
        claimed="below 1e-5",
        setting="16 + 8 tokens, width 64, 32-bit",
        why="the source's own limit; outputs are averages of order 1, whose 32-bit rounding "
        "(6e-8) times a sum over at most 160 terms stays near 1e-5 at the very worst",
    ),
    rule=every_sample_at_most,
    cases=(
        Case(name="published", params={"shapes": [(16, 8, 64)]}),
        Case(
            name="shapes",
            params={
                "shapes": [
                    (prefix, new, width)
                    for prefix in (1, 2, 7, 16, 63, 128)
                    for new in (1, 2, 8, 31)
                    for width in (8, 64, 96)
                ]
            },
        ),
    ),
    subject=Layer(),
    quick=True,
    controls=(
        Control(
            "mask shifted by one",
            "Each new token also sees the one after it.",
            faults.mask_shifted_by_one,
        ),
        Control(
            "one cached row replaced",
            "The keys and values of one prefix token belong to another text.",
            faults.one_cached_row_replaced,
        ),
    ),
)


def measure(layer: Any, case: Case) -> Measured:
    """The largest difference between recomputed and reused prefix, one sample per shape."""
    samples, worst, witness = [], -1.0, ""
    for prefix, new, width in case.params["shapes"]:
        generator = torch.Generator().manual_seed(42)
        weights = [torch.randn(width, width, generator=generator) / width**0.5 for _ in range(3)]
        tokens = torch.randn(1, prefix + new, width, generator=generator)
        recomputed = layer.full(tokens, weights)[:, prefix:]
        reused = layer.with_cached_prefix(tokens, prefix, weights)
        samples.append((recomputed - reused).abs().max().item())
        if not samples[-1] <= worst:
            worst, witness = samples[-1], f"{prefix} cached + {new} new tokens, width {width}"
    return Measured(samples=samples, witness=witness)


test_holds, test_control_is_caught = CLAIM.tests(measure)
