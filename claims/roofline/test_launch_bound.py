"""One eager decode step is many hundreds of separate operations, at any context."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures.counting import Counting
from fixtures.faults.counting import OneProduct

SHAPE = "qwen2.5-0.5b"
CONTEXTS = (1, 16, 64, 256, 512, 1024)
SETTING = "Qwen2.5-0.5B at 16 bits, eager PyTorch on a Tesla T4, 1,024 tokens of context"

CLAIM = Claim(
    id="roofline/launch-bound",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="why decode is slow", setting=SETTING),
    figure=Figure(
        limit=435,
        unit="operations a step",
        claimed="1,414 kernel launches",
        setting=SETTING,
        why="were each a single operation, a layer would need 18: 7 products with weights, 2 "
        "normalisations, 2 rotations, 2 additions to the cache, 1 attention, 1 activation, 1 "
        "gating, 2 residual sums; x 24 layers, + embedding, last normalisation and output "
        "(derived after counts of 1,208 to 1,353 had been seen)",
    ),
    rule=median_at_least,
    subject=Counting(),
    quick=True,
    scope=Scope(
        lanes=frozenset({"cpu"}),
        says="operations torch dispatches, views left out; not the kernels of a CUDA device, "
        "some of which serve one operation together",
    ),
    mechanism="An eager step hands its operations over one by one, whatever each computes.",
    controls=(
        Control(
            name="one big product",
            sentence="The step is one product with one matrix of as many weights.",
            plant=lambda _: OneProduct(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:  # noqa: ARG001 - one case
    """Operations that one step dispatches after each context, counted without any storage."""
    engine = counting.engine(SHAPE)
    steps = [counting.operations(engine, past=past) for past in CONTEXTS]
    last = steps[-1]
    return Measured(
        samples=[sum(step.launched.values()) for step in steps],
        notes={
            "contexts": list(CONTEXTS),
            "views": sum(last.views.values()),
            "by name": dict(last.launched.most_common()),
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
