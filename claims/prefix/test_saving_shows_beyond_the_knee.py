"""Beyond the knee a prompt whose beginning is cached gives its first token sooner."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable, paired_seconds, ratios
from claims._kit.rules import median_at_least
from fixtures import phases, reuse
from fixtures.faults.tracing import ResumesFromNothing
from fixtures.needs import Need

SETTING = "Qwen3-8B, A100, a ten-turn chat: 963 tokens at its last turn, some 95 of them new"
NEW, ROUNDS = 95, 9


def case(turn: int, tokens: int) -> Case:
    """A turn of a chat that grows as the source's did: 147 tokens and 90.7 a turn."""
    params = {"tokens": tokens, "new": NEW}
    small = {"tokens": tokens // 16, "new": NEW // 16}
    return Case(name=f"turn {turn}", params=params, rehearsal=small)


CLAIM = Claim(
    id="prefix/saving-shows-beyond-the-knee",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the ten-turn chat", setting=SETTING),
    figure=Figure(
        limit=1.25,
        unit="in full / with the beginning cached",
        claimed="139 / 64.2 ms at turn 10 (2.17); shows past some 500 tokens",
        setting=SETTING,
        why="at the knee the prompt's arithmetic at the device's best rate takes as long as any "
        "pass; real kernels reach at most four fifths of that rate, so in full takes 1 / 0.8",
    ),
    rule=median_at_least,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(
        lanes=frozenset({"gpu"}),
        judged_on=frozenset({"cuda"}),
        says="batch 1, drawn tokens of the source's lengths, prompts beyond the device's knee",
    ),
    timed=True,
    mechanism="Only tokens after the cached beginning are computed.",
    cases=(case(10, 963), case(40, 3684), case(80, 7312)),
    controls=(
        Control("starts anew", ResumesFromNothing.__doc__, ResumesFromNothing, "turn 80"),
    ),
)  # fmt: skip


def measure(engine: Any, case: Case) -> Measured:
    """Time in full over that with a cached beginning, one ratio per paired round."""
    tokens, new = case.params["tokens"], case.params["new"]
    knee = phases.knee_tokens(engine)
    if why := phases.off_scope(engine, tokens, side="beyond", knee=knee):
        raise NotApplicable(why)
    pairs = paired_seconds(
        reuse.with_a_cached_beginning(engine, tokens, new=new),
        reuse.in_full(engine, tokens),
        rounds=ROUNDS,
        clock=time.perf_counter,
        settle=engine.settle,
    )
    cached, full = ([1e3 * s for s in arm] for arm in zip(*pairs, strict=True))
    return Measured(
        samples=ratios(pairs),
        x=tokens,
        points={"cached, ms": phases.middle(cached), "in full, ms": phases.middle(full)},
        notes={"cached, ms": cached, "in full, ms": full, "knee, tokens": knee},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
