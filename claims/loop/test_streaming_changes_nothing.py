"""A streamed reply is the same tokens as an unstreamed one, and its pieces join to its text."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import looping, streaming
from fixtures.faults import looping as faults
from fixtures.needs import Need

TOKENS, PROMPTS = 12, (9,)
REPLY, TEXTS = "replies", "texts in many scripts"
KINDS = (streaming.OURS, streaming.LIBRARY)

CLAIM = Claim(
    id="loop/streaming-changes-nothing",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="streaming is just not buffering"),
    figure=Figure(
        limit=1.0,
        unit="share of streams that equal the whole",
        claimed="sending tokens as they come does not change the computation",
        why="equality of token ids and of characters: one stream that differs refutes it. Texts "
        "hold characters of up to four bytes, whose tokens are no text by themselves",
    ),
    rule=every_one_of,
    needs=frozenset({Need.MODEL, Need.KV_CACHE, Need.TOKENIZER}),
    cases=tuple(
        Case(name=f"{what}, {kind}", params={"what": what, "kind": kind})
        for what in (REPLY, TEXTS)
        for kind in KINDS
    ),
    controls=(
        *(
            Control(
                name=f"last chunk dropped, {kind}",
                sentence="The stream is closed before its last piece is sent.",
                plant=faults.DropsLastChunk,
                case=f"{REPLY}, {kind}",
            )
            for kind in KINDS
        ),
        Control(
            name="tokens decoded singly",
            sentence="Each token is turned into text by itself, whole characters or not.",
            plant=faults.DecodesTokensSingly,
            case=f"{TEXTS}, {streaming.OURS}",
        ),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each stream whose ids, or whose joined text, are those of the whole."""
    kind, pairs = case.params["kind"], {}
    if case.params["what"] == TEXTS:
        for name, ids in streaming.sample_texts(engine).items():
            pairs[name] = (streaming.streamed_text(engine, ids, kind), engine.decode(ids))
    else:
        for length in PROMPTS:
            ids = looping.prompt_ids(engine, length)
            whole = looping.hand_reply(engine, ids, TOKENS)
            for way in (streaming.by_hand, streaming.by_library):
                streamed = way(engine, ids, TOKENS, kind)
                pairs[f"{way.__name__}, {length}"] = (streamed, (whole, engine.decode(whole)))
    off = [f"{name}: {a!r} for {b!r}"[:400] for name, (a, b) in pairs.items() if a != b]
    samples = [float(found == expected) for found, expected in pairs.values()]
    return Measured(samples=samples, witness=off[0] if off else "", notes={"of": list(pairs)})


test_holds, test_control_is_caught = CLAIM.tests(measure)
