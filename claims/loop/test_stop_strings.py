"""A stop string ends the reply at the token that completes it, wherever tokens are cut."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_equals
from fixtures import looping, streaming
from fixtures.faults import looping as faults
from fixtures.needs import Need

HAND, LIBRARY = "hand-written loop", "the library's generate"
PROMPT, LONG, BORDERS = 30, 10, (2, 5, 8)

CLAIM = Claim(
    id="loop/stop-strings",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="one forward pass, one token"),
    figure=Figure(
        limit=0,
        unit="tokens after the one that completes the stop string",
        claimed="generated tokens can complete a configured stop sequence",
        why="the unstopped reply says where its text first holds the string, which is made of "
        "two characters before a border between tokens and two after it; the count is exact",
    ),
    rule=every_sample_equals,
    needs=frozenset({Need.MODEL, Need.KV_CACHE, Need.TOKENIZER}),
    cases=(Case(name=HAND), Case(name=LIBRARY)),
    controls=(
        Control(
            name="stop string never emitted",
            sentence="The loop looks for a string that is no part of the reply.",
            plant=faults.StopNeverComes,
            case=HAND,
        ),
        Control(
            name="never emitted, library",
            sentence="The library looks for a string that is no part of the reply.",
            plant=faults.StopNeverComes,
            case=LIBRARY,
        ),
        Control(
            name="one token at a time",
            sentence="The string is looked for in the last token's text alone.",
            plant=faults.LooksAtOneToken,
            case=HAND,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """Tokens beyond the one that completes the stop string, for a string over each border."""
    ids = looping.prompt_ids(engine, PROMPT)
    free = looping.hand_reply(engine, ids, LONG)
    text = [engine.decode(free[:n]) for n in range(LONG + 1)]
    change = getattr(engine, "stop_string", str)
    samples, told = [], {}
    for border in BORDERS:
        stop = text[border][-2:] + text[LONG][len(text[border]) :][:2]
        expected = next(n for n, so_far in enumerate(text) if stop in so_far)
        if case.name == HAND:
            reply = streaming.until_string(engine, ids, change(stop), limit=LONG)
        else:
            more = {"stop_strings": [change(stop)], "tokenizer": engine.tokenizer}
            reply = looping.library_reply(engine, ids, LONG, **more)
        samples.append(float(len(reply) - expected))
        told[repr(stop)] = f"{len(reply)} tokens, {expected} expected"
    return Measured(samples=samples, notes=told)


test_holds, test_control_is_caught = CLAIM.tests(measure)
