"""Each token adds the same bytes to its conversation's cache; only weights are shared."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import live_caches
from fixtures.faults.counting import SharedCache, SlidingWindow
from fixtures.needs import Need

PROMPT, STEPS, CONVERSATIONS = 8, 24, 3
SETTING = "Qwen2.5 at 16 bits on a Tesla T4"

CLAIM = Claim(
    id="memory/cache-grows-linearly",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="what grows: the cache", setting=SETTING),
    figure=Figure(
        limit=1,
        unit="times the bytes the configuration gives",
        claimed="every token adds its keys and values; the cache belongs to one conversation",
        setting=SETTING,
        why="2 x layers x key-value heads x head size x bytes per number, for each token of each "
        "conversation, and nothing else: tensors are counted, so the ratio is exactly 1",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="dynamic cache, models whose layers all see the whole conversation"),
    cases=(
        Case(name="token by token", params={"conversations": 1}),
        Case(name="several conversations", params={"conversations": CONVERSATIONS}),
    ),
    controls=(
        Control(
            name="sliding window",
            sentence="The model keeps four tokens and forgets those before.",
            plant=SlidingWindow,
            case="token by token",
        ),
        Control(
            name="one cache for all",
            sentence="Later conversations are given the first one's keys and values.",
            plant=SharedCache,
            case="several conversations",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Growth of a live cache over what the configuration gives; of storage for several of them."""
    runner = engine.variant(cache_kind="dynamic")
    each = live_caches.bytes_per_token(runner)
    prompt = torch.arange(1, 1 + PROMPT, device=runner.device)[None]
    if case.params["conversations"] == 1:
        sizes = live_caches.sizes_token_by_token(runner, prompt, steps=STEPS)
        tokens = [PROMPT] + [1] * STEPS
    else:
        sizes = live_caches.sizes_of_conversations(runner, prompt, conversations=CONVERSATIONS)
        tokens = [PROMPT] * CONVERSATIONS
    grown = [after - before for before, after in pairwise(sizes)]
    samples = [more / (each * n) for more, n in zip(grown, tokens, strict=True)]
    return Measured(samples=samples, notes={"bytes a token": each, "bytes held": sizes})


test_holds, test_control_is_caught = CLAIM.tests(measure)
