"""Of many requests at once each gets its own reply, none lost and none twice."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import load
from fixtures.servers.lies import Lie

# They were 96 when the first results were seen, and became fewer to save time.
REQUESTS, AT_ONCE = 64, 16

CLAIM = Claim(
    id="server/each-gets-its-own",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="continuous batching"),
    figure=Figure(
        limit=1.0,
        unit="share of requests with their own number in a reply of their own",
        claimed="requests join and leave batches as they start and finish",
        setting="no machine, mechanics",
        why="each request is bound to a number no other one has, and ids are compared; one reply "
        "that is lost, doubled or swapped refutes it",
    ),
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.JSON_SCHEMA, Need.USAGE}),
    scope=Scope(lanes=frozenset({"server"}), says="64 requests, 16 at once"),
    controls=(Control(*lying(Lie.MIXES_UP)),),
)


def measure(engine: Any, _case: Case) -> Measured:
    """1 for each request that got its own number once, 0 for each other."""
    found = load.errands(engine, REQUESTS, at_once=AT_ONCE)
    # A mixed-up reply holds another's number. Where none holds any, be it asked for alone, the
    # schema is ignored: schemas-are-kept refutes that, and prose does not say whose it is.
    if not (load.any_number(found) or load.any_number(load.errands(engine, 1, at_once=1))):
        raise NotApplicable(f"bound to a number it writes none: {found[0].text!r}")
    samples = load.own_and_once(found)
    odd = [e for e, sample in zip(found, samples, strict=True) if not sample]
    witness = f"{odd[0].number} was answered {odd[0].text!r}" if odd else ""
    return Measured(samples=samples, witness=witness, notes={"at once": AT_ONCE})


test_holds, test_control_is_caught = CLAIM.tests(measure)
