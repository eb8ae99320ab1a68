"""Per token, decode costs far more than prefill."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Floor, Measured
from claims._kit.rules import median_at_least
from fixtures import phases
from fixtures.faults.timing import PrefillsTokenByToken
from fixtures.machines import read_bandwidth
from fixtures.needs import Need

PUBLISHED = {64: "", 256: "", 512: "78.0 ms a prefill, 63.2 ms a step", 1024: "494x", 2048: ""}
ANY_LENGTH = "no ratio printed for this length"
SETTING = "Qwen3-8B, bfloat16, A100, eager attention, batch 1, 64 new tokens"
ON_GPU, ON_CPU = frozenset({"cuda"}), frozenset({"cpu"})
DIRECTION = (
    "more than one times is the direction itself; one half more keeps it clear of call overhead, "
    "which both arms pay once per pass"
)
CPU_WHY = (
    "at best a pass takes max(bytes/bandwidth, operations/rate); for 4-byte weights that puts "
    "the ratio at 2 x rate/bandwidth: 100 GFLOP/s and 20 GB/s, two ordinary cores, give 10; "
    "a fifth of that is asked, since neither bound is ever reached"
)
GPU_WHY = "the source's own bound at 1,024 tokens: a hundredfold, a fifth of what it measured"


def figure(limit: float, why: str, tokens: int) -> Figure:
    """The limit for a device and length beside what was published for that length."""
    claimed = PUBLISHED[tokens] or ANY_LENGTH
    unit = "decode / prefill time per token"
    return Figure(limit=limit, unit=unit, claimed=claimed, setting=SETTING, why=why)


def case(tokens: int, device: str) -> Case:
    """One prompt length on one kind of device."""
    bound = tokens == 1024
    limit, why = (100.0, GPU_WHY) if device == "cuda" else (2.0, CPU_WHY)
    return Case(
        name=f"{tokens} tokens, {device}",
        params={"tokens": tokens},
        figure=figure(limit, why, tokens) if bound else figure(1.5, DIRECTION, tokens),
        judged_on=frozenset({device}),
    )


CLAIM = Claim(
    id="phases/decode-per-token-cost",
    sentence=__doc__,
    source=Source(document="one-call", where="section 3, prefill against decode", setting=SETTING),
    figure=figure(100.0, GPU_WHY, 1024),
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1; prompts of 64 to 2,048 tokens"),
    mechanism="One prefill pass reads each weight once for all its tokens, decode once per token.",
    timed=True,
    cases=(
        *(case(tokens, "cpu") for tokens in (64, 256, 512, 1024)),
        *(case(tokens, "cuda") for tokens in (64, 256, 512, 1024, 2048)),
    ),
    controls=tuple(
        Control(
            name=f"prefill token by token, {device}",
            sentence="The prompt is fed one token a pass, so both arms cost the same.",
            plant=PrefillsTokenByToken,
            case=f"{tokens} tokens, {device}",
        )
        for device, tokens in (("cpu", 64), ("cuda", 1024))
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Time of a decode step over that of a prefilled token, one ratio per paired round."""
    tokens = case.params["tokens"]
    rounds = phases.paired_rounds(engine, tokens)
    prefill_ms = [1e3 * r.prefill_s for r in rounds]
    step_ms = [1e3 * r.step_s for r in rounds]
    floor_ms = 1e3 * engine.weight_bytes() / read_bandwidth(engine.device)
    return Measured(
        samples=[s / (p / tokens) for s, p in zip(step_ms, prefill_ms, strict=True)],
        x=tokens,
        points={
            "prefill, tokens/s": 1e3 * tokens / phases.middle(prefill_ms),
            "decode, tokens/s": 1e3 / phases.middle(step_ms),
        },
        notes={"prefill_ms": prefill_ms, "step_ms": step_ms, "steps a round": phases.STEPS},
        floors=[
            Floor(
                what="one decode step",
                measured=phases.middle(step_ms),
                floor=floor_ms,
                unit="ms",
                why="weight bytes over the read bandwidth probed in this run",
            )
        ],
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
