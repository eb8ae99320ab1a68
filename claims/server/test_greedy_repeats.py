"""At temperature 0 one request gives one reply, alone and beside others."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import repeats
from fixtures.servers.lies import Lie

CLAIM = Claim(
    id="server/greedy-repeats",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="sampling; batching across requests"),
    figure=Figure(
        limit=1.0,
        unit="share of repeats that give the first reply again",
        claimed="the same prompt, its latency changed by load, its output not",
        setting="no machine, mechanics",
        why="replies are compared as text; a promise of one reply is broken by a second one",
    ),
    rule=every_one_of,
    needs=frozenset({Need.SERVER}),
    scope=Scope(lanes=frozenset({"server"}), says="one server, greedy, 24 tokens, warm prompt"),
    mechanism="The highest score wins; beside others, rounding in another batch shape may tip it.",
    cases=(Case(name="alone"), Case(name="beside others")),
    quick=True,
    controls=(
        Control(*lying(Lie.DRAWS), case="alone"),
        Control(*lying(Lie.MIXES_UP), case="beside others"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each repeat with the first reply's text, 0 for each other."""
    first, again = repeats.greedy(engine, others=case.name == "beside others")
    odd = [text for text in again if text != first]
    return Measured(
        samples=[float(text == first) for text in again],
        witness=f"{first!r} became {odd[0]!r}" if odd else "",
        notes={"first": first, "again": again},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
