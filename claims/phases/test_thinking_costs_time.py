"""Tokens that are never shown cost what shown ones do."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import median_at_most
from fixtures import replies
from fixtures.faults.timing import ThinksForFree
from fixtures.needs import Need

SETTING = "the source names no machine"
PROMPT, TOKENS = 16, 5

CLAIM = Claim(
    id="phases/thinking-costs-time",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="why the answer is slow"),
    figure=Figure(
        limit=0.25,
        unit="departure of hidden / shown time from 1",
        claimed="hidden reasoning adds latency for the same reason visible output does",
        setting=SETTING,
        why="the same number of steps takes the same time: 0; tokens that cost nothing would give "
        "a departure near 1; a quarter of that leaves room for a busy machine",
    ),
    rule=median_at_most,
    needs=frozenset({Need.MODEL, Need.KV_CACHE}),
    scope=Scope(says="batch 1"),
    timed=True,
    mechanism="Whether a token is printed is decided after the step that made it.",
    controls=(Control("thinks for free", ThinksForFree.__doc__, ThinksForFree),),
)


def measure(engine: Any, case: Case) -> Measured:
    """How far hidden tokens are from taking as long as shown ones, per paired round."""
    pairs = replies.hidden_and_shown(engine, PROMPT, TOKENS)
    return Measured(
        samples=[abs(hidden / shown - 1) for hidden, shown in pairs],
        notes={"hidden and shown ms": [list(pair) for pair in pairs], "case": case.name},
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
