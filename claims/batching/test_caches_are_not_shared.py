"""What a large batch adds to a step is each sequence's own cache, not the shared weights."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_least
from fixtures import phases, tracing
from fixtures.faults.batching import WeightsForEachRow
from fixtures.needs import Need

SETTING = "Tesla T4, Qwen2.5-0.5B, 16-bit, 512 tokens of context, unfused attention, trace"

CLAIM = Claim(
    id="batching/caches-are-not-shared",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="latency and throughput", setting=SETTING),
    figure=Figure(
        limit=0.5,
        unit="share of the growth that is not products with weights",
        claimed="at 64 sequences 6.9 ms of 96 are the weights, hardly more than at 16",
        setting=SETTING,
        why="more than half is what decides; were it weights alone, the share would be 0",
    ),
    rule=every_sample_at_least,
    needs=frozenset({Need.WHOLE, Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="kernel time of a step at batch 64 less that at 1; weights' products run apart",
    ),
    timed=True,
    profiled=True,
    mechanism="Weights are read once for all; each sequence brings its own keys and values.",
    cases=(
        Case(
            name="1 to 64 sequences",
            params={"batch": 64, "context": 512},
            rehearsal={"batch": 8, "context": 16},
        ),
    ),
    controls=(
        Control("weights for each row", WeightsForEachRow.__doc__, WeightsForEachRow),
    ),
)  # fmt: skip


def measure(engine: Any, case: Case) -> Measured:
    """The part of what a batch adds to the device's busy time that its weights do not explain."""
    batch, context = case.params["batch"], case.params["context"]
    whole, weights = {}, {}
    for rows in (1, batch):
        step = tracing.batch_step(engine, rows, context)
        whole[rows] = tracing.busy_ms(step, engine)
        weights[rows] = tracing.busy_ms(tracing.weight_products(engine, rows), engine)
    one, one_weights = phases.middle(whole[1]), phases.middle(weights[1])
    pairs = list(zip(whole[batch], weights[batch], strict=True))
    return Measured(
        samples=[1 - (w - one_weights) / (all_of - one) for all_of, w in pairs],
        notes={"busy ms of a step": whole, "of its products with weights": weights},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
