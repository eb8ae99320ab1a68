"""Turning text into tokens and back is a vanishing share of a call."""

from __future__ import annotations

import time
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured, seconds_of
from claims._kit.rules import median_at_most
from fixtures import looping
from fixtures.faults.looping import EncodesSingly, OneTokenCall
from fixtures.needs import Need

SETTING = "Qwen2.5-0.5B, T4, 5,130 characters to 1,024 ids, 32 tokens out, 1.28 s"
TOKENS, REPLY, ROUNDS = 128, 8, 6

CLAIM = Claim(
    id="loop/text-handling-is-free",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="the loop", setting=SETTING),
    figure=Figure(
        limit=0.01,
        unit="share of the call",
        claimed="3.8 + 0.35 ms of 1.28 s: 0.3 %",
        setting=SETTING,
        why="one part in a hundred is three times the published share, for a prompt and a reply "
        "that are shorter here (128 in, 8 out), so that the call weighs less beside its text",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE, Need.TOKENIZER}),
    timed=True,
    controls=(
        Control(
            name="characters singly",
            sentence="The prompt is tokenized one character at a time, twenty times over.",
            plant=EncodesSingly,
        ),
        Control(
            name="1-token call",
            sentence="A tiny model's single pass over one token stands where the call belongs.",
            plant=OneTokenCall,
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:  # noqa: ARG001
    """Time of tokenizing and detokenizing over that of the whole call, one share per round."""
    ids = looping.prompt_ids(engine, TOKENS)
    text = engine.tokenizer.decode(ids)
    reply = looping.prompt_ids(engine, REPLY)
    own = getattr(engine, "call", None)
    parts = {
        "tokenize": lambda: engine.encode(text),
        "run": own or (lambda: looping.hand_reply(engine, ids, REPLY)),
        "detokenize": lambda: engine.decode(reply),
    }
    rounds = [
        {p: seconds_of(f, clock=time.perf_counter, settle=engine.settle) for p, f in parts.items()}
        for _ in range(ROUNDS + 1)
    ][1:]
    return Measured(
        samples=[(r["tokenize"] + r["detokenize"]) / sum(r.values()) for r in rounds],
        notes={f"{part}, ms": [1e3 * r[part] for r in rounds] for part in parts},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
