"""Timings of one arm each, kept by pytest-benchmark; and our rates beside independent clocks.

Run with ``tox -e benchmarks`` on a machine that does nothing else.
"""

import statistics
import time

import pytest
import torch
from hypothesis import given

from claims._kit.stats import median
from fixtures import fuzz, phases, profiles, targets
from fixtures.engines.tiny import Shape, build
from fixtures.engines.transformers_engine import TransformersEngine
from fixtures.session import Session

pytestmark = pytest.mark.timed

TOKENS = 256
FUZZ_EXAMPLES_PER_S = 60


@pytest.fixture(scope="module")
def engine():
    return Session(targets.named(targets.DEFAULT), "cpu", 0).engine()


def bare_step_s(engine, cache, token, steps):
    """The independent clock: a bare forward loop over the model itself."""
    start = time.perf_counter()
    with torch.inference_mode():
        for _ in range(steps):
            out = engine.model(input_ids=token, use_cache=True, **{engine.cache_argument: cache})
            token = out.logits[:, -1:].argmax(-1)
    return (time.perf_counter() - start) / steps


def bare_prefill_s(engine, ids):
    cache = engine.new_cache(length=0)
    start = time.perf_counter()
    with torch.inference_mode():
        extra = {engine.cache_argument: cache}
        out = engine.model(input_ids=ids, use_cache=True, logits_to_keep=1, **extra)
    return time.perf_counter() - start, cache, out.logits[:, -1:].argmax(-1)


def test_our_rates_agree_with_a_bare_forward_loop(engine):
    """Paired rounds; the interval of ours / bare contains 1 within the 2 % a loop may cost."""
    ids = phases.prompt_ids(engine, TOKENS)
    prefill, step = [], []
    bare_prefill_s(engine, ids)
    for _ in range(12):
        ours = phases.paired_rounds(engine, TOKENS, rounds=1)
        seconds, cache, token = bare_prefill_s(engine, ids)
        prefill.append(ours.prefill_ms[0] / (1e3 * seconds))
        step.append(ours.step_ms[0] / (1e3 * bare_step_s(engine, cache, token, phases.STEPS)))
    for name, ratios in (("prefill", prefill), ("decode", step)):
        interval = median(ratios)
        print(f"{name}: ours / bare = {interval}")
        assert interval.low <= 1.02
        assert interval.high >= 0.98


def test_prefill(engine, benchmark):
    ids = phases.prompt_ids(engine, TOKENS)
    benchmark.extra_info["tokens"] = TOKENS
    benchmark.pedantic(bare_prefill_s, (engine, ids), rounds=8, warmup_rounds=1)


def test_decode_step(engine, benchmark):
    ids = phases.prompt_ids(engine, TOKENS)
    _, cache, token = bare_prefill_s(engine, ids)
    benchmark.pedantic(bare_step_s, (engine, cache, token, 1), rounds=32, warmup_rounds=2)


def test_the_loops_own_cost_stays_under_two_percent(engine):
    """What paired_rounds adds around forward calls, measured with a forward that does nothing."""

    class Idle:
        device, vocabulary = "cpu", 100

        def new_cache(self, *, length):
            return None

        def forward(self, _ids, _cache, **_how):
            return torch.zeros(1, 1, 1)

        def settle(self):
            pass

    idle_ms = statistics.median(phases.paired_rounds(Idle(), TOKENS, rounds=20).step_ms)
    real_ms = statistics.median(phases.paired_rounds(engine, TOKENS, rounds=5).step_ms)
    print(f"loop {idle_ms:.4f} ms of a step of {real_ms:.1f} ms")

    assert idle_ms <= 0.02 * real_ms


def test_the_fuzz_judges_sixty_examples_a_second_on_one_core():
    engine = TransformersEngine(targets.random_weights("tiny"), build(Shape()), None, "cpu")
    took = []

    @profiles.chosen()
    @given(example=fuzz.examples())
    def timed(example):
        start = time.perf_counter()
        fuzz.judge_example(engine, example)
        took.append(time.perf_counter() - start)

    start = time.perf_counter()
    with fuzz.one_thread():
        timed()
    rate = len(took) / (time.perf_counter() - start)
    print(
        f"{rate:.0f} examples a second, drawing included; median {statistics.median(took):.4f} s"
    )

    assert rate >= FUZZ_EXAMPLES_PER_S
