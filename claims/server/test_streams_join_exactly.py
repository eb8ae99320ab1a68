"""A streamed reply joins exactly to the one sent in one piece, characters of any length whole."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import streams
from fixtures.servers.lies import Lie

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
    found = streams.pairs(engine)
    if case.name == "replies beyond ASCII":
        found = [both for both in found if not both.whole.text.isascii()]
    odd = next((both for both in found if not both.agree), None)
    return Measured(
        samples=[float(both.agree) for both in found],
        witness=f"{odd.ask!r}: {odd.whole.text!r} came as {odd.streamed.pieces!r}" if odd else "",
        notes={"replies": [[b.ask, b.whole.text, list(b.streamed.pieces)] for b in found]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
