"""Prefill and decode lie under the roof of the device's read bandwidth and matmul rate."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_sample_at_most
from fixtures import roofline
from fixtures.faults.counting import SlowClock
from fixtures.needs import Need

SETTING = "Tesla T4, 274 GB/s and 20.8 TFLOP/s measured; Qwen2.5-0.5B, 16-bit"


def steps(batch: int) -> Case:
    """Decode steps of one batch."""
    size = {"batch": batch, "context": 512}
    return Case(name=f"decode, batch {batch}", params=size, rehearsal={"context": 16})


def prompt(tokens: int) -> Case:
    """Prefills of one length."""
    small = {"tokens": tokens // 16}
    return Case(name=f"prefill, {tokens:,} tokens", params={"tokens": tokens}, rehearsal=small)


PROMPTS = (64, 128, 256, 512, 1024, 2048)

CLAIM = Claim(
    id="roofline/passes-lie-under-the-roof",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="prefill; decode; latency", setting=SETTING),
    figure=Figure(
        limit=1,
        unit="rate / min(matmul rate, bandwidth x operations a byte)",
        claimed="ridge at 76 operations a byte; prefill 6.2 of 20.8 TFLOP/s; decode 1.1 a byte",
        setting=SETTING,
        why="a pass does no less than its products and visible pairs and moves no less than "
        "weights and cache once each; one that does so at the best probed rates of the run has 1, "
        "and above 1 the clock or a probe is wrong",
    ),
    rule=every_sample_at_most,
    cases=(*map(steps, (1, 2, 4, 8, 16, 32, 64)), *map(prompt, PROMPTS)),
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="CUDA, dense models of 16 bits or more that no cache of the device holds",
    ),
    mechanism="Memory gives bytes no faster, and the units multiply no faster, than was probed.",
    timed=True,
    controls=(
        Control("slow clock, decode", SlowClock.__doc__, SlowClock, "decode, batch 1"),
        Control("slow clock, prefill", SlowClock.__doc__, SlowClock, "prefill, 2,048 tokens"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Each pass's operations a second over what its operations a byte allow."""
    if why := roofline.out_of_scope(engine):
        raise NotApplicable(why)
    run, series, mark = roofline.passes(engine, **case.params)
    return Measured(
        samples=run.shares,
        x=run.intensity,
        points={"operations a second": run.rate},
        notes={
            "pass_ms": [1e3 * seconds for seconds in run.pass_s],
            "operations and bytes a pass": [run.operations, run.bytes],
            "chart": run.chart(series=series, mark=mark),
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
