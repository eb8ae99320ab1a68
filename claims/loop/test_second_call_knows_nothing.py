"""A second call knows what the first was told only if the transcript is sent along."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import told
from fixtures.faults.looping import KeepsCache
from fixtures.needs import Need

ALONE, TRANSCRIPT = "alone", "with transcript"
SETTING = "Qwen3-8B, one port, three calls"

CLAIM = Claim(
    id="loop/second-call-knows-nothing",
    sentence=__doc__,
    source=Source(document="one-call", where="section 1, the model has no memory"),
    figure=Figure(
        limit=1.0,
        unit="share of ports that the isolated call does not name",
        claimed="told 5439, the isolated call guessed 5432",
        setting=SETTING,
        why="nothing carries over, so no isolated call names its port; twelve ports that no "
        "service is known by leave a guess less than one chance in a thousand",
    ),
    rule=every_one_of,
    needs=frozenset({Need.MODEL, Need.TRAINED, Need.KV_CACHE, Need.CHAT_TEMPLATE}),
    mechanism="Weights are only read and the cache is dropped; the application keeps the chat.",
    cases=(
        Case(name=ALONE),
        Case(
            name=TRANSCRIPT,
            rule="share_at_least",
            figure=Figure(
                limit=0.5,
                unit="share of ports that the call with the transcript names",
                claimed="with the transcript the port is known",
                setting=SETTING,
                why="a model reads it off more often than not; the exact interval over twelve "
                "ports clears one half from ten of them on",
            ),
        ),
    ),
    controls=(
        Control(
            name="cache kept between calls",
            sentence="The second call is given the first one's cache.",
            plant=KeepsCache,
            case=ALONE,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each port that the isolated call leaves out, or that the one with transcript names."""
    replies = dict(told.answers(engine))
    if case.name == TRANSCRIPT:
        replies[TRANSCRIPT] = told.with_transcript(engine)
    named = [str(p) in reply for p, reply in zip(told.PORTS, replies[case.name], strict=True)]
    as_claimed = [name == (case.name == TRANSCRIPT) for name in named]
    return Measured(
        samples=list(map(float, as_claimed)),
        witness=f"told {told.PORTS[0]}: {replies[case.name][0]!r}",
        notes={"ports": list(told.PORTS), **replies},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
