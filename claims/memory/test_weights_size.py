"""The bytes of a model's weights follow from its shape."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.counting import Counting
from fixtures.faults.counting import TablesTwice

T4 = "Qwen2.5 at 16 bits on a Tesla T4"
A100 = "one-call: Qwen3-8B in bfloat16 on an A100"
ROUNDED = "the exact count x 2 bytes / 2^30, rounded as the source rounds it"
# shape, exact parameters, GiB as printed, what was published, derivation of the exact count
SHAPES = (
    ("qwen2.5-0.5b", 494_032_768, 0.92, {"claimed": "494 million, 0.92 GiB", "setting": T4},
     "151,936 x 896 (one table) + 24 x (14,909,440 in matrices + 2,944 in vectors) + 896"),
    ("qwen2.5-1.5b", 1_543_714_304, 2.9, {"claimed": "1.5 billion, 2.9 GiB", "setting": T4},
     "151,936 x 1,536 (one table) + 28 x (46,792,704 in matrices + 5,120 in vectors) + 1,536"),
    ("qwen3-8b", 8_190_735_360, 15.3, {"claimed": "15.3 GiB", "setting": A100},
     "2 x 151,936 x 4,096 (two tables) + 36 x (192,937,984 in matrices + 8,448 in norms) + 4,096"),
)  # fmt: skip


def cases(shape: str, exact: int, gib: float, about: dict[str, str], why: str) -> list[Case]:
    """The exact number of a shape's parameters, and the GiB that were printed."""
    digits = len(str(gib).split(".")[1])
    counted = Figure(limit=exact, unit="parameters", why=why, **about)
    printed = Figure(limit=gib, unit=f"GiB to {digits} places", why=ROUNDED, **about)
    where = {"shape": shape, "digits": digits}
    return [
        Case(name=f"{shape} parameters", params={"shape": shape}, figure=counted),
        Case(name=f"{shape} GiB", params=where, figure=printed),
    ]


CLAIM = Claim(
    id="memory/weights-size",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="opening", setting=T4),
    figure=Figure(limit=0.92, unit="GiB", claimed="0.92 GiB", setting=T4, why=ROUNDED),
    rule=every_sample_equals,
    cases=tuple(case for row in SHAPES for case in cases(*row)),
    subject=Counting(),
    quick=True,
    scope=Scope(lanes=frozenset({"cpu"}), says="the three published shapes, 16-bit weights"),
    controls=(
        Control(
            name="tables counted twice",
            sentence="The table that serves input and output is counted once for each.",
            plant=lambda _: TablesTwice(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:
    """Parameters (or GiB) derived from the configuration, and summed over tensors on meta."""
    shape = case.params["shape"]
    derived = counting.dimensions(shape).parameters()
    summed = counting.parameters(counting.engine(shape))
    gib = [2 * n / 2**30 for n in (derived, summed)]
    digits = case.params.get("digits")
    return Measured(
        samples=[derived, summed] if digits is None else [round(g, digits) for g in gib],
        witness=f"{shape}: derived {derived:,}, summed {summed:,}",
        notes={"derived": derived, "summed over tensors": summed, "GiB at 16 bits": gib},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
