"""Half as many bits per weight halve the time that reading the weights takes at the least."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.counting import Counting
from fixtures.faults.counting import WideTables

SHAPES = ("qwen2.5-0.5b", "qwen2.5-1.5b", "qwen3-8b")
HALVINGS = {
    "32 to 16 bits": (torch.float32, torch.bfloat16),
    "16 to 8 bits": (torch.bfloat16, torch.float8_e4m3fn),
}
SETTING = "Qwen2.5-0.5B, 3.7 ms a token at 16 bits on a Tesla T4 of 274 GB/s"

CLAIM = Claim(
    id="roofline/fewer-bytes",
    sentence=__doc__,
    source=Source(
        document="where-time-goes", where="what a production engine changes", setting=SETTING
    ),
    figure=Figure(
        limit=0.5,
        unit="times the floor with twice the bits",
        claimed="fewer bytes per weight lower the bound in proportion",
        setting=SETTING,
        why="the floor is weight bytes / bandwidth; the bandwidth cancels and every weight takes "
        "half the bytes, so the ratio is exactly one half",
    ),
    rule=every_sample_equals,
    cases=tuple(Case(name=name, params={"types": types}) for name, types in HALVINGS.items()),
    subject=Counting(),
    quick=True,
    scope=Scope(
        lanes=frozenset({"cpu"}),
        says="the floor, not the speed; plain number types: block formats store scales as well",
    ),
    controls=(
        Control(
            name="tables stay wide",
            sentence="The vocabulary table stays in 32 bits whatever the other weights are in.",
            plant=lambda _: WideTables(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:
    """Bytes of the weights over those with twice the bits, for each published shape."""
    wide, narrow = case.params["types"]
    pairs = [[counting.weight_bytes_as(shape, t) for t in (wide, narrow)] for shape in SHAPES]
    return Measured(
        samples=[after / before for before, after in pairs],
        notes={
            "bytes before and after": dict(zip(SHAPES, pairs, strict=True)),
            "ms at 274 GB/s": [[size / 274e6 for size in pair] for pair in pairs],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
