"""The device's allocator grows by the bytes that the configuration gives a cached token."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most
from fixtures import live_caches
from fixtures.faults.tracing import KeepsNothing
from fixtures.needs import Need

SETTING = "Qwen2.5 at 16 bits on a Tesla T4: 12 and 28 KiB a token"

CLAIM = Claim(
    id="memory/allocator-grows-with-the-cache",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="what grows: the cache", setting=SETTING),
    figure=Figure(
        limit=0.01,
        unit="departure from the configuration's bytes",
        claimed="12 KiB a token, 12 MiB at 1,024, 96 MiB at 8,192",
        setting=SETTING,
        why="the allocator rounds each tensor up to 512 bytes; a layer's keys of 1,024 tokens are "
        "256 KiB and more, so that a hundredth is far above what rounding can add",
    ),
    rule=every_sample_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="dynamic cache, models whose layers all see the whole conversation",
    ),
    mechanism="Keys and values of each layer are the only thing a conversation leaves behind.",
    cases=(
        Case(
            name="1024 to 8192 tokens",
            params={"lengths": (1024, 2048, 4096, 8192)},
            rehearsal={"lengths": (64, 128)},
        ),
    ),
    controls=(Control("given back", KeepsNothing.__doc__, KeepsNothing),),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far each conversation's allocated bytes are from those of its tokens."""
    runner = engine.variant(cache_kind="dynamic")
    each, lengths = live_caches.bytes_per_token(runner), case.params["lengths"]
    grown = [live_caches.allocated_by(runner, tokens) for tokens in lengths]
    return Measured(
        samples=[abs(b / (each * n) - 1) for b, n in zip(grown, lengths, strict=True)],
        x=lengths[-1],
        points={"MiB at the longest": grown[-1] / 2**20},
        notes={"bytes a token": each, "tokens": list(lengths), "bytes allocated": grown},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
