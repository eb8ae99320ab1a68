"""A call leaves every weight as it was and does not change what the next call sees."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import looping
from fixtures.faults.looping import KeepsCache, WritesWeights
from fixtures.needs import Need

WEIGHTS, BETWEEN = "weights", "another call in between"
PROMPT, REPLY = 24, 8

CLAIM = Claim(
    id="loop/stateless",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the model has no memory"),
    figure=Figure(
        limit=0,
        unit="parameters and buffers, or scores, that changed",
        claimed="weights are read-only; nothing of a request is written back into them",
        setting="Qwen3-8B, 15.3 GiB of weights",
        why="a hash over the bytes of each parameter and buffer before and after a call; and the "
        "same call before and after another one, which runs the same sums on the same numbers: "
        "both are compared bit for bit",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    cases=(Case(name=WEIGHTS), Case(name=BETWEEN)),
    controls=(
        Control(
            name="a weight that learns",
            sentence="Each pass moves one scale of a normalisation by a hundredth.",
            plant=WritesWeights,
            case=WEIGHTS,
        ),
        Control(
            name="cache kept between calls",
            sentence="Later calls are given the first one's cache.",
            plant=KeepsCache,
            case=BETWEEN,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """For each tensor 1 if its hash changed; or how many scores of a repeated call changed."""
    ids = looping.prompt_ids(engine, 2 * PROMPT)
    if case.name == WEIGHTS:
        before = looping.state_hashes(engine.model)
        looping.hand_reply(engine, ids, REPLY)
        after = looping.state_hashes(engine.model)
        names = sorted(before.keys() | after.keys())
        changed = [name for name in names if before.get(name) != after.get(name)]
        samples = [float(name in changed) for name in names]
        return Measured(samples=samples, witness=", ".join(changed[:3]))
    first = looping.first_scores(engine, ids[:PROMPT])
    looping.hand_reply(engine, ids[PROMPT:], REPLY)
    again = looping.first_scores(engine, ids[:PROMPT])
    return Measured(samples=[float((first != again).sum())], notes={"scores": len(first)})


test_holds, test_control_is_caught = CLAIM.tests(measure)
