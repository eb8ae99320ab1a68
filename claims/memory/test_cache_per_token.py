"""Cache bytes per token are two x layers x key-value heads x head size x bytes per number."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures.counting import Counting
from fixtures.faults.counting import QueryHeadsCached
from fixtures.live_caches import cache_bytes

SETTING = "Qwen2.5 at 16 bits on a Tesla T4, one conversation"
SMALL, LARGE = "qwen2.5-0.5b", "qwen2.5-1.5b"
EACH = {
    SMALL: "2 x 24 layers x 2 heads x 64 numbers x 2 bytes",
    LARGE: "2 x 28 layers x 2 heads x 128 numbers x 2 bytes",
}
BYTES = {"KiB": 2**10, "MiB": 2**20}
LIVE_TOKENS = 64
# shape, tokens, limit, unit, printed
PUBLISHED = (
    (SMALL, 1, 12, "KiB", "12 KiB a token"),
    (LARGE, 1, 28, "KiB", "28 KiB a token"),
    (SMALL, 128, 1.5, "MiB", "1.5 MiB at 128"),
    (SMALL, 1_024, 12, "MiB", "12 MiB at 1,024"),
    (SMALL, 8_192, 96, "MiB", "96 MiB at 8,192"),
    (LARGE, 8_192, 224, "MiB", "224 MiB at 8,192"),
    (LARGE, 32_768, 896, "MiB", "896 MiB at 32,768"),
)


def case(shape: str, tokens: int, limit: float, unit: str, claimed: str) -> Case:
    """One printed size."""
    why = f"{EACH[shape]} x {tokens:,} tokens"
    figure = Figure(limit=limit, unit=unit, claimed=claimed, setting=SETTING, why=why)
    params = {"shape": shape, "tokens": tokens, "unit": unit}
    return Case(name=f"{shape}, {tokens} tokens", params=params, figure=figure)


CLAIM = Claim(
    id="memory/cache-per-token",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="what grows: the cache", setting=SETTING),
    figure=Figure(limit=12, unit="KiB", claimed="12 KiB", setting=SETTING, why=EACH[SMALL]),
    rule=every_sample_equals,
    cases=tuple(case(*row) for row in PUBLISHED),
    subject=Counting(),
    quick=True,
    scope=Scope(lanes=frozenset({"cpu"}), says="16-bit caches in which every layer keeps all"),
    mechanism="Query heads share the keys and values of their group; only those are kept.",
    controls=(
        Control(
            name="query heads cached",
            sentence="Each query head keeps keys and values of its own.",
            plant=lambda _: QueryHeadsCached(),
        ),
    ),
)


def measure(counting: Any, case: Case) -> Measured:
    """Derived size, that of a cache filled on meta, and per token that of a live cache."""
    shape, tokens = case.params["shape"], case.params["tokens"]
    derived = counting.dimensions(shape).cache_bytes(tokens)
    on_meta, unit = counting.engine(shape), BYTES[case.params["unit"]]
    found = {"derived": derived, "on meta": cache_bytes(counting.filled(on_meta, tokens))}
    if tokens == 1:
        live = counting.filled(counting.small_engine(shape), LIVE_TOKENS)
        found[f"live, of {LIVE_TOKENS} tokens"] = cache_bytes(live) / LIVE_TOKENS
    return Measured(
        samples=[size / unit for size in found.values()],
        notes={"bytes": found, "of the weights": derived / counting.weight_bytes(on_meta)},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
