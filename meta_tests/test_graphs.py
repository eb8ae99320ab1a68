"""The rehearsal of the CUDA graph claim: everything but the capture, on a CPU."""

import pytest
import torch

from claims._kit.measure import Measured
from claims._kit.verdict import Verdict
from fixtures import graphs, targets
from fixtures.engines.capture import LaunchedStep
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.equivalence import compare, null_spread
from fixtures.faults.graphs import GraphWithStaleInputs
from fixtures.loading import from_shape
from fixtures.phases import prompt_ids

CONTEXT = 24


@pytest.fixture(scope="module")
def engine():
    target = targets.random_weights("tiny")
    return TransformersEngine(target, from_shape("tiny", device="cpu", seed=0), None, "cpu")


@pytest.fixture(scope="module")
def claim(request):
    from importlib.util import module_from_spec, spec_from_file_location

    path = request.config.rootpath / "claims/roofline/test_graph_speedup.py"
    spec = spec_from_file_location("graph_speedup", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CLAIM


def test_decode_over_a_static_cache_equals_decode_over_a_dynamic_one(engine):
    """Static and dynamic steps give the same logits, within what rounding explains."""
    launched = graphs.prepared(engine, "launched", CONTEXT)
    tokens = [5, 9, 200, 31]
    static = graphs.logits_of(launched, tokens, CONTEXT)

    dynamic = engine.variant(cache_kind="dynamic")
    cache = dynamic.new_cache(length=0)
    dynamic.forward(prompt_ids(engine, CONTEXT), cache)
    rows = [dynamic.forward(torch.tensor([[t]]), cache)[0, -1] for t in tokens]

    context = prompt_ids(engine, CONTEXT)[0].tolist() + tokens
    null = null_spread(engine, context, engine.forward(torch.tensor([context]))[0])
    assert compare(torch.stack(rows), static, null).excess <= 1


def test_a_rewound_step_gives_the_same_logits_again(engine):
    """Rewinding leaves no trace of the tokens that were decoded."""
    step = graphs.prepared(engine, "launched", CONTEXT)

    assert torch.equal(
        graphs.logits_of(step, [7, 8, 9], CONTEXT), graphs.logits_of(step, [7, 8, 9], CONTEXT)
    )


def test_each_run_of_a_step_sees_its_own_token(engine):
    """The contract that a captured step shares: fixed places, fresh inputs."""
    step = graphs.prepared(engine, "launched", CONTEXT)
    first, second = graphs.logits_of(step, [7], CONTEXT), graphs.logits_of(step, [8], CONTEXT)

    assert isinstance(step, LaunchedStep)
    assert not torch.equal(first, second)


def test_a_step_with_stale_inputs_is_refuted(engine, claim):
    """The claim's own measure and rule catch a replay that never copies its token."""
    case = claim.case("logits")
    stale = claim.registry["measure"](GraphWithStaleInputs(engine), case)

    assert claim.judge(case, stale).verdict is Verdict.REFUTED


def test_a_replay_that_launches_is_refuted(engine, claim):
    """Two launched arms cost the same, so their ratio stays under the limit."""
    clock = iter(range(10_000))
    pair = graphs.pair(
        engine, "graph that launches", context=CONTEXT, rounds=8, clock=lambda: float(next(clock))
    )
    samples = [a / b for a, b in zip(pair.launched_s, pair.replayed_s, strict=True)]
    judged = claim.judge(claim.case("speed-up"), Measured(samples=samples))

    assert judged.verdict is Verdict.REFUTED
