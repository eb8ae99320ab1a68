"""Bound to a schema, each reply that is not cut off is valid, at every temperature."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Scope, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_one_of
from fixtures.faults.serving import lying, schema_in_unknown_field
from fixtures.needs import Need
from fixtures.servers import json_replies
from fixtures.servers.lies import Lie

CLAIM = Claim(
    id="server/schema-json-always-passes",
    sentence=__doc__,
    source=Source(
        document="one-call",
        where="section 5, grammar mask",
        setting="8 log lines twice at each of 5 temperatures, top-p 0.95 above zero",
    ),
    figure=Figure(
        limit=1.0,
        unit="share of whole replies that are valid",
        claimed="80 of 80 valid",
        setting="Qwen3-8B, thinking off, T in 0, 0.3, 0.7, 1.0, 1.3",
        why="a guarantee: one whole reply that is not valid refutes it; replies that the "
        "limit cut while they could still become JSON are counted apart",
    ),
    rule=every_one_of,
    needs=frozenset({Need.SERVER, Need.JSON_SCHEMA}),
    scope=Scope(lanes=frozenset({"server"}), says="eight log lines at each of three temperatures"),
    mechanism="A score of minus infinity has a share of exactly zero at any temperature.",
    cases=tuple(Case(name=f"T={t}", params={"t": t}) for t in json_replies.TEMPERATURES),
    controls=(
        Control(*lying(Lie.IGNORES_SCHEMA), case="T=0.0"),
        Control(*schema_in_unknown_field(), case="T=0.7"),
    ),
)


def measure(engine: Any, case: Case) -> Measured:
    """1 for each reply that is valid, 0 for each other that was not cut off in time."""
    found = json_replies.extractions(engine, "schema", case.params["t"])
    whole = [e for e in found if e.judgeable]
    odd = [e.reply.text for e in whole if not e.complies]
    return Measured(
        samples=[float(e.complies) for e in whole],
        witness=odd[0] if odd else "",
        x=case.params["t"],
        points={"complies": sum(e.complies for e in whole) / max(1, len(whole))},
        notes=json_replies.told(found),
    )


test_holds, test_control_is_caught = CLAIM.tests(measure)
