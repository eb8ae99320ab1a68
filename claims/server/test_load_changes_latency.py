"""An identical request takes longer beside others than alone."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_least
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import load
from fixtures.servers.lies import Lie

CLAIM = Claim(
    id="server/load-changes-latency",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="batching across requests"),
    figure=Figure(
        limit=1.25,
        unit="seconds among eight over seconds alone",
        claimed="load can change a latency though the prompt stays identical",
        setting="no machine, mechanics",
        why="the source gives a direction; a quarter more keeps clear of what eight threads of a "
        "client cost among themselves (0.1 on two cores). "
        "That its reply stays the same is server/greedy-repeats",
    ),
    rule=median_at_least,
    needs=frozenset({Need.SERVER}),
    scope=Scope(lanes=frozenset({"server"}), says="eight requests of 8 tokens, warm prompt"),
    mechanism="Requests in flight share each pass over the weights, and the passes grow.",
    timed=True,
    controls=(Control(*lying(Lie.FASTER_IN_A_CROWD)),),
)


def measure(engine: Any, _case: Case) -> Measured:
    """The middle request's seconds in a crowd over the same request's alone, by round."""
    return Measured(samples=load.crowded_over_alone(engine))


test_holds, test_control_is_caught = CLAIM.tests(measure)
