"""A decode step of Qwen2.5-0.5B runs twenty-four normalisations."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.counting import Counting, norms_run
from fixtures.faults.counting import OneNormLess

SHAPE, CONTEXT = "qwen2.5-0.5b", 16
SETTING = "Qwen2.5-0.5B on a Tesla T4, a step's stages timed one by one"

CLAIM = Claim(
    id="roofline/norms-in-a-step",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=24,
        unit="normalisations a step",
        claimed="twenty-four",
        setting=SETTING,
        why="the source's own count; an exact number, so nothing near it will do",
    ),
    rule=every_sample_equals,
    subject=Counting(),
    quick=True,
    scope=Scope(lanes=frozenset({"cpu"}), says="counted for the 0.5B shape"),
    controls=(
        Control(
            name="one norm a layer and a last one",
            sentence="The model leaves out each layer's second normalisation: 25, one too many.",
            plant=lambda _: OneNormLess(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """Normalisations of one step: calls of normalising modules, and dispatched operations."""
    engine = counting.engine(SHAPE)
    calls, operations = norms_run(engine, counting.decode_step(engine, past=CONTEXT))
    return Measured(
        samples=[calls, operations],
        witness=f"{calls} calls of normalising modules, {operations} reciprocal roots",
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
