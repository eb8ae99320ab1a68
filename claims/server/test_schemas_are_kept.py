"""Each whole reply under an accepted schema keeps it, from flat ones to contradicted ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured, NotApplicable
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying, schema_in_unknown_field
from fixtures.needs import Need
from fixtures.servers import adherence
from fixtures.servers.lies import Lie

CLAIM = Claim(
    id="server/schemas-are-kept",
    sentence=__doc__,
    source=Source(document="one-call", where="section 5, constrained decoding"),
    figure=Figure(
        limit=1.0,
        unit="share of whole replies that validate",
        claimed="a grammar mask gives valid JSON at every temperature",
        setting="one schema of three keys",
        why="an engine that takes a schema promises it; one whole reply that jsonschema rejects "
        "breaks the promise. Refused schemas are counted apart, and "
        "so are replies that the limit cut while they could still become JSON",
    ),
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.JSON_SCHEMA}),
    scope=Scope(lanes=frozenset({"server"}), says="fourteen schemas, greedy and twice drawn"),
    cases=tuple(Case(name=level) for level in adherence.LEVELS),
    controls=(
        Control(*lying(Lie.IGNORES_SCHEMA), case="flat"),
        Control(*schema_in_unknown_field(), case="composed"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each whole reply that validates, 0 for each other whole one."""
    outcomes = adherence.outcomes(engine, case.name)
    judged = [o for o in outcomes if o.what in ("valid", "invalid")]
    if all(o.what == "refused" for o in outcomes):
        raise NotApplicable(f"the server refuses every {case.name} schema: {outcomes[0].text}")
    wrong = [f"{o.schema}: {o.text}" for o in judged if o.what == "invalid"]
    return Measured(
        samples=[float(o.what == "valid") for o in judged],
        witness=wrong[0] if wrong else "",
        notes={
            "outcomes": dict(Counter(o.what for o in outcomes)),
            "replies": [[o.schema, o.what, o.text] for o in outcomes],
        },
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
