"""A greedy loop written by hand and the library's generate give the same tokens."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import looping
from fixtures.faults.looping import SkipsAPosition
from fixtures.needs import Need

TOKENS = 32
TARGET, TINY = "this model", "tiny random models"

CLAIM = Claim(
    id="loop/hand-loop-equals-generate",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the loop, against the library's own"),
    figure=Figure(
        limit=0,
        unit=f"of {TOKENS} tokens that differ",
        claimed="the same tokens, bit for bit",
        setting="Qwen2.5-0.5B, T4, 32 tokens",
        why="both run the same passes in the same order and take the highest score, so that not "
        "one token differs; the end token is switched off in both, so that all are compared",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    cases=(Case(name=TARGET), Case(name=TINY)),
    controls=(
        Control(
            name="one position skipped",
            sentence="After the prompt the hand-written loop leaves one position out.",
            plant=SkipsAPosition,
            case=TINY,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Tokens that differ in a reply of 32: after two prompts, or of each tiny model."""
    runs = list(looping.tiny_engines(engine))
    if case.name == TARGET:
        lengths = (5, 24)
        runs = [(f"{n} tokens", engine, looping.prompt_ids(engine, n)) for n in lengths]
    samples, witness = [], ""
    for name, runner, ids in runs:
        by_hand = looping.hand_reply(runner, ids, TOKENS)
        by_library = looping.library_reply(runner, ids, TOKENS)
        samples.append(float(looping.differing(by_hand, by_library)))
        if samples[-1] and not witness:
            witness = f"{name}: {by_hand} by hand, {by_library} by generate"
    return Measured(samples=samples, witness=witness)


test_holds, test_control_is_caught = CLAIM.tests(measure)
