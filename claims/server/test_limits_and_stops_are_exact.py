"""A token limit and a stop text end the reply exactly there, and the reply says which it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import endings
from fixtures.servers.lies import Lie

LIMITS = Figure(
    limit=1.0,
    unit="share of limits that are met exactly",
    claimed="the server can enforce a length limit",
    setting="no machine, mechanics",
    why="each limit is asked for by number; the reply holds that many tokens by its own count, "
    "ends for 'length', and its text is the beginning of the longest reply's",
)
STOPS = replace(
    LIMITS,
    unit="share of stop texts before which the reply ends",
    claimed="the generated tokens can complete a configured stop sequence",
    why="stop texts are cut out of the unstopped reply, across tokens too; the stopped reply is "
    "the text before the first of them and ends for 'stop'; one miss refutes it",
)

CLAIM = Claim(
    id="server/limits-and-stops-are-exact",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="ways out of the loop"),
    figure=LIMITS,
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.USAGE, Need.STOP}),
    scope=Scope(lanes=frozenset({"server"}), says="greedy, limits of 1 to 32 tokens"),
    cases=(Case(name="limits"), Case(name="stop texts", figure=STOPS)),
    quick=True,
    controls=(
        Control(*lying(Lie.OVERRUNS), case="limits"),
        Control(*lying(Lie.PADS), case="limits"),
        Control(*lying(Lie.IGNORES_STOP), case="stop texts"),
        Control(*lying(Lie.KEEPS_STOP), case="stop texts"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each limit or stop text that ended the reply where it should, 0 for each other."""
    marks = endings.limits(engine) if case.name == "limits" else endings.stops(engine)
    wrong = [mark.what for mark in marks if not mark.right]
    return Measured(
        samples=[float(mark.right) for mark in marks],
        witness=wrong[0] if wrong else "",
        notes={"replies": [mark.what for mark in marks]},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
