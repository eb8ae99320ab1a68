"""Under one seed a drawn reply comes again, and other seeds give other replies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying
from fixtures.needs import Need
from fixtures.servers import repeats
from fixtures.servers.lies import Lie

AGAIN = Figure(
    limit=1.0,
    unit="share of seeds whose reply comes again",
    claimed="a seed fixes the draw",
    setting="the protocol's own field; no machine",
    why="replies are compared as text; the same seed with another reply refutes it",
)
OTHERS = replace(
    AGAIN,
    limit=0.5,
    unit="share of seeds with a reply of their own",
    claimed="sampling draws from the scores",
    why="24 tokens at temperature 1 all but never come out twice; one half allows for a model "
    "that is very sure, and a reply kept from an earlier request has a share of 0",
)

CLAIM = Claim(
    id="server/seeds-decide",
    sentence=__doc__,
    source=Source(document="inference-chapter", where="sampling"),
    figure=AGAIN,
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.SEED}),
    scope=Scope(lanes=frozenset({"server"}), says="temperature 1, 24 tokens, one at a time"),
    cases=(
        Case(name="same seed"),
        Case(name="other seeds", figure=OTHERS, rule="share_at_least"),
    ),
    quick=True,
    controls=(
        Control(*lying(Lie.IGNORES_SEED), case="same seed"),
        Control(*lying(Lie.ANSWERS_FROM_STORE), case="other seeds"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each seed whose reply comes again, or is no other seed's."""
    first, again = repeats.seeded(engine)
    if case.name == "same seed":
        samples = [float(a == b) for a, b in zip(first, again, strict=True)]
    else:
        samples = [float(first.count(text) == 1) for text in first]
    return Measured(samples=samples, notes={"first": first, "again": again})


test_holds, test_control_is_caught = CLAIM.tests(measure)
