"""A fixed-size cache takes its full size at the first token, however few follow."""

from __future__ import annotations

from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.faults.counting import GrowsAnyway
from fixtures.live_caches import bytes_per_token, cache_bytes
from fixtures.needs import Need

SETTING = "Qwen2.5 on a Tesla T4, CUDA graph and torch.compile rungs"
STEPS = 4

CLAIM = Claim(
    id="memory/static-cache-reserves",
    sentence=__doc__,
    source=Source(
        document="where-time-goes", where="so why not just optimise it?", setting=SETTING
    ),
    figure=Figure(
        limit=1,
        unit="times the full size",
        claimed="allocated for the longest answer, whether or not it is produced",
        setting=SETTING,
        why="full size is the room asked for x the bytes of a token (2 x layers x key-value "
        "heads x head size x bytes per number); tensors are counted, so the ratio is exactly 1",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="static cache, models whose layers all see the whole conversation"),
    cases=tuple(Case(name=f"room for {n}", params={"room": n}) for n in (64, 1024)),
    controls=(
        Control(
            name="dynamic cache",
            sentence="What is asked for as a fixed-size cache is one that grows.",
            plant=GrowsAnyway,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Bytes held after each of the first tokens over the full size of the room asked for."""
    runner, room = engine.variant(cache_kind="static"), case.params["room"]
    full = bytes_per_token(runner) * room
    cache = runner.new_cache(length=room)
    held = [cache_bytes(cache)]
    for token in range(1, 1 + STEPS):
        runner.forward(torch.full((1, 1), token, device=runner.device), cache)
        held.append(cache_bytes(cache))
    return Measured(
        samples=[size / full for size in held[1:]],
        notes={"bytes before the first token": held[0], "bytes held": held[1:], "full": full},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
