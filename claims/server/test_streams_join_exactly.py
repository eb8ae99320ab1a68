"""A streamed reply joins exactly to the one sent in one piece, characters of any length whole."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures import prompts
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers.lies import Lie
from fixtures.servers.tasks import user

TOKENS = 24
REPLACED = "\N{REPLACEMENT CHARACTER}"

CLAIM = Claim(
    id="server/streams-join-exactly",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="streaming"),
    figure=Figure(
        limit=1.0,
        unit="share of requests whose pieces join to the whole reply",
        claimed="streaming does not change the core computation",
        setting="no machine, mechanics",
        why="text, reason for ending and token count are compared for equality, and no character "
        "may come in halves; one difference refutes it",
    ),
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.STREAM}),
    scope=Scope(lanes=frozenset({"server"}), says="greedy, up to 24 tokens, warm prompts"),
    cases=(Case(name="all replies"), Case(name="replies beyond ASCII")),
    quick=True,
    controls=(
        Control(*lying(Lie.DROPS_LAST), case="all replies"),
        Control(*lying(Lie.BREAKS_BYTES), case="replies beyond ASCII"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each request whose streamed and unstreamed replies are one, 0 for each other."""
    samples, shown, witness = [], [], ""
    for text in prompts.read("multibyte")["ask"]:
        chat = user(text)
        engine.chat(chat, max_tokens=1)  # both then begin from the same cached prompt
        whole = engine.chat(chat, max_tokens=TOKENS)
        streamed = engine.chat(chat, max_tokens=TOKENS, stream=True)
        if case.name == "replies beyond ASCII" and whole.text.isascii():
            continue
        counts = {r.usage.completion for r in (whole, streamed) if r.usage}
        same = (streamed.text, streamed.finish) == (whole.text, whole.finish)
        halves = any(REPLACED in p for p in streamed.pieces) and REPLACED not in whole.text
        samples.append(float(same and len(counts) <= 1 and not halves))
        shown.append([text, whole.text, list(streamed.pieces)])
        if not samples[-1]:
            witness = f"{text!r}: {whole.text!r} came as {streamed.pieces!r}"
    return Measured(samples=samples, witness=witness, notes={"replies": shown})


test_holds, test_control_is_caught = CLAIM.tests(measure)
