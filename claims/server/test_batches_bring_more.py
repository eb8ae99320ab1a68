"""Requests sent together bring more tokens a second than one after another."""

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
    id="server/batches-bring-more",
    sentence=__doc__,
    source=Source(document="where-time-goes", where="many at once"),
    figure=Figure(
        limit=1.1,
        unit="tokens a second of four at once over those of four in turn",
        claimed="30 -> 445 tokens/s from 1 to 16 sequences (15x)",
        setting="Tesla T4, Qwen2.5-0.5B, static batches",
        why="the published gain is of one step on a card; over HTTP with 8 tokens each and on a "
        "processor that computes as fast as it reads, only the direction carries over: a tenth",
    ),
    rule=median_at_least,
    needs=frozenset({Need.SERVER, Need.USAGE}),
    scope=Scope(lanes=frozenset({"server"}), says="four requests of 8 tokens, warm prompt"),
    mechanism="A pass reads the weights once for every sequence in it.",
    timed=True,
    controls=(Control(*lying(Lie.ONE_BY_ONE)),),
)


def measure(engine: Any, _case: Case) -> Measured:
    """Tokens a second together over those in turn, by round with the order flipped."""
    return Measured(samples=load.batched_over_single(engine))


test_holds, test_control_is_caught = CLAIM.tests(measure)
